// Memory accounting: compares the memory of all known owners with the used memory of a device (docs/balance.md).
//
// The bytes of a row are computed from recorded events, or come from a device sample. `from_before` and `unexplained`
// are the used bytes that no row explains.
#ifndef TOOLS_ANALYZE_ACCOUNTING_BALANCE_H_
#define TOOLS_ANALYZE_ACCOUNTING_BALANCE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/instant_choice.h"
#include "tools/analyze/pass/joint_replays.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"

namespace memoir {

enum class BalancePart : std::uint8_t {
  kAllocated,     // blocks of the caching allocator, except for those in private pools
  kWaiting,       // blocks that the program freed, and that a stream may still use (record_stream)
  kCache,         // reserved in the default pool, but not part of any block
  kPrivatePools,  // all reserved bytes of the pools of CUDA graphs and of MemPools
  kInNoSegment,   // torch's driver allocations minus its reserved bytes
  kWithoutCache,  // torch's blocks on a device without a caching allocator
  kMemoryPools,   // the pools of cudaMallocAsync: the sampled bytes, or the recorded blocks if there is no sample
  kNccl,          // this and the next four parts: driver allocations, see DriverRole
  kLibrary,
  kContext,
  kCode,
  kForeign,
  kOtherProcesses,  // sampled with NVML
};
std::string_view ToString(BalancePart part);  // "allocated", "waiting", ...

struct BalanceRow {
  BalancePart part = BalancePart::kForeign;
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;  // 0 if the row is not a sum of recorded blocks
};

// A row that is not part of DeviceBalance::sum: pinned host memory, managed memory, or memory of another process.
struct SeparateRow {
  std::string name;
  std::string call;  // ToString(v1::DriverCall)
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
};

struct HostBalance {
  std::uint64_t cpu_bytes = 0;                // live bytes of torch's CPU allocator
  std::optional<std::uint64_t> pinned_asked;  // live bytes of torch's pinned-memory allocator; empty: not recorded
  std::uint64_t pinned_blocks = 0;            // number of live blocks of the pinned-memory allocator
  std::uint64_t pinned_taken = 0;             // all pinned host memory, allocated or registered: the sum of `pinned`
  std::vector<SeparateRow> pinned;            // a row for each library and call
};

struct DeviceBalance {
  std::string name;
  std::string product;
  ProcessId process;
  std::optional<std::uint32_t> rank;
  std::uint64_t ns = 0;
  std::optional<std::uint64_t> step;  // number of the last memoir.step()
  // The device sample at this instant. A field is empty if the sample lacks its value. If the sample lacks
  // `other_processes_bytes`, the value comes from another sample.
  std::optional<v1::ReadingCause> cause;
  std::optional<std::uint64_t> free, total;
  std::optional<std::uint64_t> used;                                  // total minus free
  std::optional<std::uint64_t> process_bytes, other_processes_bytes;  // sampled with NVML
  std::optional<std::uint64_t> pool_bytes;                            // reserved in the pools of cudaMallocAsync
  std::vector<BalanceRow> rows;  // torch's rows, then the other rows from the largest to the smallest
  std::uint64_t sum = 0;
  // Bytes without a row that were already unexplained at the first sample after the recording began or continued. They
  // were allocated before the recording, or while it was paused.
  std::uint64_t from_before = 0;
  // `used` minus `sum` minus `from_before`. If negative, a block is counted twice, or a free was not recorded.
  std::optional<std::int64_t> unexplained;
  std::optional<std::int64_t> unexplained_at_start;  // `used` minus `sum` at the first sample
  bool went_on = false;                              // recording was off at first, or paused, before this instant
  std::vector<SeparateRow> beside;  // managed memory, and memory of other processes that this process opened by IPC
  // Bytes that torch's allocator has reserved, and bytes of its recorded driver allocations.
  std::uint64_t torch_reserved = 0;
  std::uint64_t torch_driver_bytes = 0;
  std::uint64_t torch_in_pools = 0;  // bytes of torch's blocks, if torch allocates from cudaMallocAsync's pools
  // Bytes that other libraries took from the driver for torch's allocator, for example for a MemPool.
  std::uint64_t in_mem_pools = 0;
  // The largest value of `used` in the samples of evicted parts. Only for InstantChoice::Kind::kPeak. Empty if `used`
  // is at least as large.
  std::optional<std::uint64_t> evicted_used;
  std::uint64_t evicted_ns = 0;
  // Bytes of driver allocations that were live when recording was switched off. It is unknown which of them were freed
  // while recording was off.
  std::uint64_t forgotten_bytes = 0;
  HostBalance host;
  double share_explained() const;  // the fraction of `used` that rows explain, 0..1; 1 if `used` is 0 or unknown
  bool IsFinding() const;          // `unexplained`, positive or negative, exceeds 64 MiB and 1 % of `used`
};

struct Balance {
  std::vector<DeviceBalance> devices;  // findings first, then by unexplained bytes, then by used bytes
  ReplayReport report;
};

// Values of `at`: kPeak selects the device sample with the most used bytes, kStart the first sample, and kEnd the last
// sample. kOutOfMemory selects the sample at the last refused request. A time or a mark selects the newest sample
// before this time or mark. NotFound: the recording has no such mark, or no refused request. OutOfRange: the recording
// does not contain the time. Needs two replays.
Task<absl::StatusOr<Balance>> AnalyzeBalance(JointReplays& replays, Selection selection, InstantChoice at);
absl::StatusOr<Balance> AnalyzeBalance(const Capture& capture, const Selection& selection, const InstantChoice& at);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_ACCOUNTING_BALANCE_H_
