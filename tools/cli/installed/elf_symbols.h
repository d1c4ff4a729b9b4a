// The dynamic symbols that a 64-bit ELF library exports and imports.
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

// Reads only names for which `keep` returns true, because torch's libraries have hundreds of thousands of names. A
// damaged file causes an error, never a crash. The error names the file and the cause.
absl::StatusOr<DynamicSymbols> ReadDynamicSymbols(const std::string& path, bool (*keep)(std::string_view name));

}  // namespace memoir

#endif  // TOOLS_CLI_INSTALLED_ELF_SYMBOLS_H_
