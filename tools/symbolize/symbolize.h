// Finds the names of the native frames of a capture, and writes these names into the capture's folder.
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
  std::vector<std::string> folders;  // folders with copies of the objects, found by file name
  std::function<void(double)> progress;
};

struct SymbolizeResult {
  std::size_t objects = 0, addresses = 0, named = 0, with_lines = 0;
  std::vector<std::string> problems;  // one line each: a missing object, and the remedy
};

// NotFound: the capture has no native frames.
absl::StatusOr<SymbolizeResult> Symbolize(const SymbolizeOptions& options);

}  // namespace memoir

#endif  // TOOLS_SYMBOLIZE_SYMBOLIZE_H_
