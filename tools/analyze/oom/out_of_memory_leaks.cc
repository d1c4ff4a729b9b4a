#include "tools/analyze/oom/out_of_memory_leaks.h"

#include <algorithm>

#include "tools/analyze/oom/out_of_memory.h"

namespace memoir {

void AddLeakTotals(const std::vector<Leak>& leaks, std::vector<OutOfMemory>& errors) {
  for (const Leak& leak : leaks) {  // most bytes first
    if (leak.kind == Leak::Kind::kFragmentation) continue;
    for (OutOfMemory& error : errors) {
      if (error.process != leak.process || error.device != leak.device || error.ns < leak.ns) continue;
      if (!error.leaking) error.leaking = LeakTotals{0, 0, 0, leak.since_step, leak.line, leak.operator_name};
      ++error.leaking->places;
      error.leaking->bytes += leak.bytes;
      error.leaking->bytes_per_step += leak.bytes_per_step();
      error.leaking->since_step = std::min(error.leaking->since_step, leak.since_step);
    }
  }
}

}  // namespace memoir
