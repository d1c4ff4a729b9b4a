// Memory accounting: whether the memory of all known owners adds up to the used memory of a device (docs/balance.md).
//
// Every row is a sum of recorded blocks or a sample, in bytes; only `unexplained` is a difference.
#ifndef TOOLS_ANALYZE_ACCOUNTING_BALANCE_H_
#define TOOLS_ANALYZE_ACCOUNTING_BALANCE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/at.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"

namespace memoir {

enum class BalancePart : std::uint8_t {
  kAllocated,     // caching allocator: blocks, private pools left out
  kWaiting,       // given back, but their streams have not come to it
  kCache,         // reserved, in no block
  kPrivatePools,  // all that CUDA graphs' pools and MemPools have reserved
  kInNoSegment,   // torch's driver blocks are more than its segments
  kWithoutCache,  // torch's blocks where its allocator caches nothing that is seen
  kMemoryPools,   // of cudaMallocAsync, used or not: a reading
  kNccl,
  kLibrary,
  kContext,
  kCode,
  kForeign,
  kOtherProcesses,  // a reading of NVML
};
std::string_view ToString(BalancePart part);  // "allocated", "waiting", ...

struct BalanceRow {
  BalancePart part = BalancePart::kForeign;
  std::string name;
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;  // 0: of a reading
};

// Pinned memory, and what lies beside the sum.
struct BesideRow {
  std::string name;
  std::string call;  // ToString(v1::DriverCall)
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
};

struct HostBalance {
  std::uint64_t cpu_bytes = 0;                // of torch's CPU allocator
  std::optional<std::uint64_t> pinned_asked;  // by the program; empty: not recorded
  std::uint64_t pinned_blocks = 0;            // of these
  std::uint64_t pinned_taken = 0;             // what that took of the host: the next ones' sum
  std::vector<BesideRow> pinned;              // by library, allocated and registered apart
};

struct DeviceBalance {
  std::string name;
  std::string product;
  ProcessId process;
  std::optional<std::uint32_t> rank;
  std::uint64_t ns = 0;
  std::optional<std::uint64_t> step;  // number of the last memoir.step()
  // Of the reading at that moment; empty: not known.
  std::optional<v1::ReadingCause> cause;
  std::optional<std::uint64_t> free, total;
  std::optional<std::uint64_t> used;                                  // total less free
  std::optional<std::uint64_t> process_bytes, other_processes_bytes;  // as NVML says
  std::optional<std::uint64_t> pool_bytes;                            // of cudaMallocAsync
  std::vector<BalanceRow> rows;                                       // torch's first, then the largest
  std::uint64_t sum = 0;
  // What no row has: at most so much of it was there at the first reading, of the recording or since it went on again.
  std::uint64_t from_before = 0;
  std::optional<std::int64_t> unexplained;  // used less sum and from_before; negative: counted twice, or freed unseen
  std::optional<std::int64_t> unexplained_at_start;  // used less sum at that first reading
  bool went_on = false;                              // since the recording was off
  std::vector<BesideRow> beside;                     // managed memory, memory of other processes opened by IPC
  // What torch's allocator says, and what it was seen to take from the driver.
  std::uint64_t torch_reserved = 0;
  std::uint64_t torch_driver_bytes = 0;
  std::uint64_t torch_in_pools = 0;  // of the pools of cudaMallocAsync, where torch allocates from them
  std::uint64_t in_mem_pools = 0;    // taken by other libraries, for a MemPool of torch: counted as that
  // The fullest reading of parts that are gone; empty: not fuller than this one.
  std::optional<std::uint64_t> folded_used;
  std::uint64_t folded_ns = 0;
  std::uint64_t forgotten_bytes = 0;  // the driver had given, when recording went off: what became of it is not known
  HostBalance host;
  double share_explained() const;  // 0..1 of `used`: by rows; 1 when nothing is used
  bool IsFinding() const;          // 1 % of what is used and 64 MiB are unexplained, or counted too much
};

struct Balance {
  std::vector<DeviceBalance> devices;  // findings first, then those with most unexplained, then most used
  ReplayReport report;
};

// At: kPeak is the fullest reading, kOutOfMemory the last refusal, a time or a mark the newest reading before it.
// Errors say what there is instead: no such mark, no such time, no refusal.
absl::StatusOr<Balance> AnalyzeBalance(const Capture& capture, const Selection& selection, const At& at);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_ACCOUNTING_BALANCE_H_
