#include "tools/analyze/oom/out_of_memory.h"

namespace memoir {

const OutOfMemory& DecisiveError(const std::vector<OutOfMemory>& errors) {
  const OutOfMemory* decisive = nullptr;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const bool last = i + 1 == errors.size() || errors[i + 1].process != errors[i].process;
    if (last && (decisive == nullptr || errors[i].ns < decisive->ns)) decisive = &errors[i];
  }
  return *decisive;
}

}  // namespace memoir
