#include "tools/analyze/pass/layer_pattern.h"

#include <algorithm>
#include <cstddef>

namespace memoir {

std::string WithLayersMerged(std::string_view path) {
  std::string merged;
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find('.', begin), path.size());
    const std::string_view part = path.substr(begin, end - begin);
    const bool number = !part.empty() && part.find_first_not_of("0123456789") == std::string_view::npos;
    if (begin > 0) merged += '.';
    merged += number ? "*" : part;
    begin = end + 1;
  }
  return merged;
}

}  // namespace memoir
