#include "tools/analyze/ranks/job/module_sketch.h"

#include <xxhash.h>

namespace memoir {

void ModuleSketch::Add(std::string_view name) {
  hashes_.insert(XXH64(name.data(), name.size(), 0));
  if (hashes_.size() > kMostHashes) hashes_.erase(std::prev(hashes_.end()));
}

std::string WithoutNumbers(std::string_view name) {
  std::string without;
  for (const char c : name) {
    const bool digit = c >= '0' && c <= '9';
    if (!digit) {
      without += c;
    } else if (!without.ends_with('#')) {
      without += '#';
    }
  }
  return without;
}

}  // namespace memoir
