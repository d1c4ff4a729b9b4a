// The fields that Memoir reads from CUPTI's records of kernels, copies and fills.
//
// New versions of CUPTI append fields to these records. So the fields that are read here have had the same offsets
// since CUDA 12. The functions keep no state, and may be called on any thread.
#ifndef TRACKER_CUPTI_ACTIVITY_RECORD_H_
#define TRACKER_CUPTI_ACTIVITY_RECORD_H_

#include <cstdint>

#include "interpose/records/ring_record.h"

namespace memoir {

// One kernel, copy or fill that a device has run.
struct ActivityRun {
  RunKind kind = RunKind::kKernel;
  std::uint32_t device = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;  // CUPTI's number of the CUDA call that started the kernel, copy or fill
  std::uint64_t start = 0;        // ns of CUPTI's clock
  std::uint64_t end = 0;          // ns of CUPTI's clock
  std::uint64_t bytes = 0;
  std::uint8_t copy_kind = 0;    // cudaMemcpyKind plus 1; 0: the run is not a copy, or its kind is unknown
  const char* symbol = nullptr;  // mangled name of a kernel; belongs to CUPTI
};

// Reads `record`, a CUpti_Activity, into `run`. False if `record` describes neither a kernel nor a copy nor a fill.
bool ReadActivity(const void* record, ActivityRun* run);

// Returns true if both times are known. CUPTI reports no times for work that was still running when CUPTI's records
// were flushed.
inline bool HasTimes(const ActivityRun& run) { return run.start != 0 && run.end >= run.start; }

// The recording's clock and CUPTI's clock, read at the same time.
struct ClockPair {
  std::uint64_t tick = 0;
  std::uint64_t ns = 0;
};
// Returns the tick at which CUPTI's clock had the value `ns`, which must be close to `pair.ns`.
std::uint64_t TickOf(std::uint64_t ns, const ClockPair& pair, double ticks_per_ns);

}  // namespace memoir

#endif  // TRACKER_CUPTI_ACTIVITY_RECORD_H_
