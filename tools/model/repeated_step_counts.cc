#include "tools/model/repeated_step_counts.h"

#include <algorithm>

namespace memoir {

bool HasRepeatedSteps(const v1::ProcessInfo& process) {
  return std::ranges::find(process.sources(), "known-steps") != process.sources().end();
}

}  // namespace memoir
