// What a program asked of its GPUs: launches of kernels, copies, waits, and CUDA graphs with the private pools that
// they hold (docs/kernels.md).
#ifndef TOOLS_ANALYZE_CALLS_DEVICE_CALLS_H_
#define TOOLS_ANALYZE_CALLS_DEVICE_CALLS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"

namespace memoir {

// Longest on devices first where that is known, then most launches, then by name.
struct KernelRow {
  std::string symbol;  // mangled; "": not known
  std::string name;    // KernelName of it
  std::uint64_t launches = 0;
  std::uint64_t captured = 0;                                    // of them, into a graph that was being captured
  std::uint64_t failed = 0;                                      // of them, that returned an error
  std::vector<std::pair<std::string, std::uint64_t>> operators;  // innermost range, "" none; most launches first
  std::vector<std::string> streams;                              // "cuda:0 0x0"
  // With --kernels times. Replays of graphs run kernels that nobody launched then.
  std::uint64_t runs = 0;
  std::uint64_t device_ns = 0;                                      // that they took
  std::vector<std::pair<std::string, std::uint64_t>> operators_ns;  // of it, by what launched them; most first
};

// Calls that take memory from the driver are among them, of which it is not known how long they took.
struct CallRow {
  std::string_view call;  // "cudaMemcpyAsync"
  v1::CopyKind kind = v1::COPY_KIND_UNKNOWN;
  std::uint64_t calls = 0;
  std::uint64_t failed = 0;
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> ns;                               // that the program was in them
  std::uint64_t device_ns = 0;                                   // that copies and fills took, with --kernels times
  std::vector<std::pair<std::string, std::uint64_t>> operators;  // as of kernels; of those that take memory outermost
};

// Of the whole process, in the order of capture; `replays` in the window.
struct GraphRow {
  std::uint32_t number = 0;  // from 1, in its process
  ProcessId process;
  std::string device;
  std::uint64_t stream = 0;      // that was captured; 0: the graph was not made by capture
  std::uint64_t launches = 0;    // kernels that were captured into it
  std::uint32_t pool_graph = 0;  // torch's private pool; both 0: no block was allocated in one
  std::uint32_t pool_user = 0;
  std::uint64_t pool_bytes = 0;  // reserved in it at the end, by whatever shares it
  std::uint64_t replays = 0;
  bool instantiated = false;
  bool alive = true;  // neither it nor what was made of it is destroyed at the end
};

struct DeviceCalls {
  std::vector<KernelRow> kernels;
  std::vector<CallRow> calls;
  std::vector<GraphRow> graphs;
  std::uint64_t launches = 0;
  std::uint64_t unnamed = 0;       // of them, of kernels whose name is not known
  bool launches_recorded = false;  // not with --kernels off
  bool times_recorded = false;     // with --kernels times, where CUPTI was there; all that follow are 0 without
  std::uint64_t runs = 0;          // of kernels
  std::uint64_t device_ns = 0;     // of those
  std::uint64_t other_runs = 0;    // of kernels, copies and fills whose call is not recorded
  std::uint64_t other_ns = 0;
  ReplayReport report;
};

// NotFound: the selection does not occur.
absl::StatusOr<DeviceCalls> AnalyzeDeviceCalls(const Capture& capture, const Selection& selection);

// Whether a process of the capture was recorded without --kernels off.
bool LaunchesAreRecorded(const Capture& capture);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CALLS_DEVICE_CALLS_H_
