// The results of torch.compile: its graph breaks, and its compilations of Python frames. For each compilation: the
// memory that compiling needed, the allocations of the compiled code, and the tensors that this code keeps for
// backward.
//
// A compilation is identified by two numbers, such as "1/0": the number of its frame, and its own number within the
// frame. Its code runs in the region "Torch-Compiled Region: 1/0". Backward code belongs to the region of its forward
// code.
#ifndef TOOLS_ANALYZE_COMPILED_COMPILED_FRAMES_H_
#define TOOLS_ANALYZE_COMPILED_COMPILED_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/model/capture.h"

namespace memoir {

struct CompiledBytes {
  std::string device;
  bool caching = false;
  std::uint64_t allocations = 0;  // number of allocations by the compiled code, in the selection
  std::uint64_t allocated_bytes = 0;
  std::uint64_t bytes_at_peak = 0;       // the part of the device's peak that the compiled code allocated
  std::uint64_t saved_bytes = 0;         // part of allocated_bytes: activations that forward made
  std::uint64_t compile_peak_bytes = 0;  // peak of the memory that compiling itself needed
};

struct CompiledFrame {
  ProcessId process;
  std::optional<std::uint32_t> rank;   // empty: the process has no rank
  std::string id;                      // "1/0"; empty for a region without a number
  std::optional<Compilation> forward;  // compilation of the forward code; empty: not recorded
  std::uint64_t calls = 0;             // number of calls of the compiled code, in the selection
  std::vector<CompiledBytes> by_device;
};

// Equal graph breaks, and how many there were.
struct GraphBreaks {
  Compilation at;
  std::uint64_t count = 0;
};

struct CompiledFrames {
  static constexpr std::size_t kMost = 10'000;
  std::vector<CompiledFrame> frames;  // most bytes at the peak first, then most allocated bytes, then by number
  std::vector<GraphBreaks> breaks;    // in the order of time
  std::uint64_t left_out = 0;         // events of compilations and graph breaks beyond the first kMost
  std::string missing;                // names information that the capture lacks; empty if the capture is complete
  ReplayReport report;
};

// Returns the same errors as AnalyzeSummary.
absl::StatusOr<CompiledFrames> AnalyzeCompiledFrames(const Capture& capture, const Selection& selection);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPILED_COMPILED_FRAMES_H_
