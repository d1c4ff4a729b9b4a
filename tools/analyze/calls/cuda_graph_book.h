// Follows the CUDA graphs of a recording: the capture of a stream, the executable graph, its replays, and the private
// pool of torch's allocator in which the captured work allocated memory.
//
//   begin capture (stream) ── blocks, launches ── end capture: graph ── instantiate: exec ── launch, launch, ...
//
// CUDA may give the handle of a destroyed object to a new object. So a handle always means the newest object with this
// handle.
#ifndef TOOLS_ANALYZE_CALLS_CUDA_GRAPH_BOOK_H_
#define TOOLS_ANALYZE_CALLS_CUDA_GRAPH_BOOK_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/calls/device_call_summary.h"
#include "tools/model/event/event.h"

namespace memoir {

class CudaGraphBook {
 public:
  static constexpr std::size_t kMostGraphs = 1u << 16;  // further graphs count in the last row

  void Begin(ProcessId process) {
    *this = CudaGraphBook();
    process_ = process;
  }
  // `counts`: true if the call lies in the selection. If false, the launch of a graph does not count as a replay.
  void AddCall(const DeviceCallEvent& event, const Dictionary& dictionary, bool counts);
  // Counts a kernel launch that a stream capture records into a graph. Returns false if the launch is not captured.
  bool AddLaunch(const DeviceCallEvent& event);
  // Notes the private pool in which captured work allocates.
  void AddBlock(const Block& block);
  // Counts the reserved bytes of private pools.
  void AddSegment(const SegmentEvent& event);
  // Returns all graphs of the process. Call it at the end of the process.
  std::vector<GraphRow> Take();

 private:
  using Pool = std::pair<std::uint32_t, std::uint32_t>;

  std::size_t Add(const DeviceCallEvent& event, const Dictionary& dictionary);
  GraphRow* FindCapturing(const DeviceCallEvent& event);

  ProcessId process_;
  std::vector<GraphRow> graphs_;
  // Indices in graphs_, by the stream that is being captured.
  absl::flat_hash_map<std::uint64_t, std::size_t> capturing_;
  // Indices in graphs_, by the handle of the graph and by the handle of the executable graph.
  absl::flat_hash_map<std::uint64_t, std::size_t> by_graph_, by_exec_;
  absl::flat_hash_map<Pool, std::uint64_t> reserved_;  // reserved bytes of private pools
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CALLS_CUDA_GRAPH_BOOK_H_
