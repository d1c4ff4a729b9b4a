// What CUPTI says of a kernel, a copy or a fill: the fields of its records that a recording has.
//
// The record's structs grow with CUPTI's versions, at their ends: what is read here lies where it lay in CUDA 12. Any
// thread; nothing is kept.
#ifndef TRACKER_CUPTI_ACTIVITY_RECORD_H_
#define TRACKER_CUPTI_ACTIVITY_RECORD_H_

#include <cstdint>

#include "interpose/ring_record.h"

namespace memoir {

struct ActivityRun {
  RunKind kind = RunKind::kKernel;
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;
  std::uint64_t start = 0;  // ns, of CUPTI's clock
  std::uint64_t end = 0;
  std::uint64_t bytes = 0;
  std::uint8_t copy_kind = 0;    // cudaMemcpyKind plus 1; 0: no copy, or not known
  const char* symbol = nullptr;  // of a kernel; CUPTI's
};

// False: a record of another kind. `record`: CUpti_Activity.
bool ReadActivity(const void* record, ActivityRun* run);

// Whether it has both times: of what had not ended when CUPTI was made to give its records it does not know them.
inline bool HasTimes(const ActivityRun& run) { return run.start != 0 && run.end >= run.start; }

// CUPTI's clock and the recording's, read at one moment.
struct ClockPair {
  std::uint64_t tick = 0;
  std::uint64_t ns = 0;
};
// The tick at which CUPTI's clock had `ns`, not far from the pair.
std::uint64_t TickOf(std::uint64_t ns, const ClockPair& pair, double ticks_per_ns);

}  // namespace memoir

#endif  // TRACKER_CUPTI_ACTIVITY_RECORD_H_
