// Names the native frames of a capture, and writes them beside its parts.
#ifndef TOOLS_SYMBOLIZE_SYMBOLIZE_H_
#define TOOLS_SYMBOLIZE_SYMBOLIZE_H_

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace memoir {

struct SymbolizeOptions {
  std::string capture;
  std::vector<std::string> folders;  // that have copies of the objects, by file name
  std::function<void(double)> progress;
};

struct Symbolized {
  std::size_t objects = 0, addresses = 0, named = 0, with_lines = 0;
  std::vector<std::string> problems;  // one line each: an object that was not found, and what to do
};

// NotFound: it has no native frames.
absl::StatusOr<Symbolized> Symbolize(const SymbolizeOptions& options);

}  // namespace memoir

#endif  // TOOLS_SYMBOLIZE_SYMBOLIZE_H_
