// CUDA graphs of a recording: from the capture of a stream over the executable graph to its replays, and the private
// pool of torch's allocator that the captured work allocated in.
//
//   begin capture (stream) ── blocks, launches ── end capture: graph ── instantiate: exec ── launch, launch, ...
//
// CUDA uses a handle again once what had it is destroyed: the newest counts.
#ifndef TOOLS_ANALYZE_CALLS_GRAPH_BOOK_H_
#define TOOLS_ANALYZE_CALLS_GRAPH_BOOK_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/calls/device_calls.h"
#include "tools/model/event.h"

namespace memoir {

class CudaGraphBook {
 public:
  static constexpr std::size_t kMostGraphs = 1u << 16;

  void Begin(ProcessId process) {
    *this = CudaGraphBook();
    process_ = process;
  }
  // `counts`: a replay is one of the window's.
  void Call(const DeviceCallEvent& event, const Dictionary& dictionary, bool counts);
  // A launch, while a stream is captured: true.
  bool Launch(const DeviceCallEvent& event);
  void Allocate(const Block& block);
  void Segment(const SegmentEvent& event);
  // Those of the process, finished.
  std::vector<GraphRow> Take();

 private:
  using Pool = std::pair<std::uint32_t, std::uint32_t>;

  std::size_t Add(const DeviceCallEvent& event, const Dictionary& dictionary);
  GraphRow* Capturing(const DeviceCallEvent& event);

  ProcessId process_;
  std::vector<GraphRow> graphs_;
  absl::flat_hash_map<std::uint64_t, std::size_t> capturing_;  // by stream
  absl::flat_hash_map<std::uint64_t, std::size_t> by_graph_, by_exec_;
  absl::flat_hash_map<Pool, std::uint64_t> reserved_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CALLS_GRAPH_BOOK_H_
