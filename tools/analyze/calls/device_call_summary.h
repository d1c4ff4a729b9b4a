// Summarizes a program's CUDA calls: kernel launches, copies, waits, and CUDA graphs with their private pools
// (docs/kernels.md).
#ifndef TOOLS_ANALYZE_CALLS_DEVICE_CALL_SUMMARY_H_
#define TOOLS_ANALYZE_CALLS_DEVICE_CALL_SUMMARY_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"

namespace memoir {

// The launches and runs of one kernel. Rows are ordered by time on the device (most first), then by launches (most
// first), then by symbol.
struct KernelRow {
  std::string symbol;  // mangled; "": unknown
  std::string name;    // KernelName of `symbol`
  std::uint64_t launches = 0;
  std::uint64_t captured = 0;                                    // launches that a stream capture recorded into a graph
  std::uint64_t failed = 0;                                      // launches that returned an error
  std::vector<std::pair<std::string, std::uint64_t>> operators;  // launches, by innermost range (: no range)
  std::vector<std::string> streams;                              // "cuda:0 0x0"
  // The fields below need --kernels times. A graph's replay runs kernels without launching them, so `runs` may exceed
  // `launches`.
  std::uint64_t runs = 0;
  std::uint64_t device_ns = 0;  // time of these runs
  // device_ns by the innermost range of the launch, most first.
  std::vector<std::pair<std::string, std::uint64_t>> operators_ns;
};

// The calls of one CUDA function, for one kind of copy. Functions that allocate driver memory have rows without `ns`.
struct CallRow {
  std::string_view call;  // "cudaMemcpyAsync"
  v1::CopyKind kind = v1::COPY_KIND_UNKNOWN;
  std::uint64_t calls = 0;
  std::uint64_t failed = 0;
  std::uint64_t bytes = 0;
  std::optional<std::uint64_t> ns;  // time that the program spent in the calls; empty: unknown
  std::uint64_t device_ns = 0;      // time of copies and fills on the device, with --kernels times
  // Calls by innermost range, most first. For driver allocations: by outermost operator.
  std::vector<std::pair<std::string, std::uint64_t>> operators;
};

// A CUDA graph. Graphs outside of the selection also have rows, but `replays` counts only replays in the selection. The
// graphs of a process are in the order in which their stream captures began. A graph that was not made by capture is
// placed by its instantiation.
struct GraphRow {
  std::uint32_t number = 0;  // counts from 1 in its process
  ProcessId process;
  std::string device;
  std::uint64_t stream = 0;      // the captured stream; 0: the graph was not made by capture
  std::uint64_t launches = 0;    // kernels that were captured
  std::uint32_t pool_graph = 0;  // torch's MempoolId_t; 0, 0: no block was allocated in a private pool
  std::uint32_t pool_user = 0;
  std::uint64_t pool_bytes = 0;  // reserved in the pool at the end, for all graphs that share the pool
  std::uint64_t replays = 0;
  bool instantiated = false;
  // False if the stream capture failed, or if the program destroyed the executable graph. Also false if the program
  // destroyed the graph before it made an executable graph.
  bool alive = true;
};

struct DeviceCallSummary {
  std::vector<KernelRow> kernels;
  std::vector<CallRow> calls;
  std::vector<GraphRow> graphs;
  std::uint64_t launches = 0;
  std::uint64_t unnamed = 0;       // launches of kernels without a known name
  bool launches_recorded = false;  // false with --kernels off
  // True with --kernels times, if CUPTI was available. Otherwise the next four fields are 0.
  bool times_recorded = false;
  std::uint64_t runs = 0;        // kernel runs
  std::uint64_t device_ns = 0;   // time of these runs
  std::uint64_t other_runs = 0;  // runs of kernels, copies and fills whose call was not recorded
  std::uint64_t other_ns = 0;
  ReplayReport report;
};

// Returns NotFound if the recording does not contain the selection.
absl::StatusOr<DeviceCallSummary> AnalyzeDeviceCalls(const Capture& capture, const Selection& selection);

// Returns true if a process of the capture recorded kernel launches (not with --kernels off).
bool LaunchesAreRecorded(const Capture& capture);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CALLS_DEVICE_CALL_SUMMARY_H_
