// The dynamic symbols of a 64-bit ELF library: what it shows, and what it wants from others.
#ifndef TOOLS_CLI_INSTALLED_ELF_SYMBOLS_H_
#define TOOLS_CLI_INSTALLED_ELF_SYMBOLS_H_

#include <set>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace memoir {

struct DynamicSymbols {
  std::set<std::string> defined, wanted;
};

// Only names that `keep` keeps: torch's libraries have hundreds of thousands. The error names the file and what is
// wrong with it; a damaged file is an error, never a crash.
absl::StatusOr<DynamicSymbols> ReadDynamicSymbols(const std::string& path, bool (*keep)(std::string_view name));

}  // namespace memoir

#endif  // TOOLS_CLI_INSTALLED_ELF_SYMBOLS_H_
