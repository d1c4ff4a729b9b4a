// What torch.compile made: each frame and each of its compilations, with what compiling took, what its code allocates
// and what that keeps for backward; and where graphs broke.
//
// A frame is known by its number and that of its compilation, "1/0", as torch names the region "Torch-Compiled Region:
// 1/0" in which its code runs. Backward counts for the region of its forward.
#ifndef TOOLS_ANALYZE_COMPILED_COMPILED_FRAMES_H_
#define TOOLS_ANALYZE_COMPILED_COMPILED_FRAMES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"

namespace memoir {

struct CompiledBytes {
  std::string device;
  bool caching = false;
  std::uint64_t allocations = 0;  // of its code, in the window
  std::uint64_t allocated_bytes = 0;
  std::uint64_t bytes_at_peak = 0;       // of the device
  std::uint64_t saved_bytes = 0;         // of the allocated, activations of its forward
  std::uint64_t compile_peak_bytes = 0;  // most that was live of what one compilation of it made while it worked
};

struct CompiledFrame {
  ProcessId process;
  std::optional<std::uint32_t> rank;   // empty: of no rank
  std::string id;                      // "1/0"; "" of a region without a number
  std::optional<Compilation> forward;  // empty: it was compiled where nothing is known of it
  std::uint64_t calls = 0;             // of its code, in the window
  std::vector<CompiledBytes> by_device;
};

struct GraphBreaks {
  Compilation at;
  std::uint64_t count = 0;
};

struct CompiledFrames {
  static constexpr std::size_t kMost = 10'000;
  std::vector<CompiledFrame> frames;  // most bytes at the peak first, then most allocated bytes, then by their numbers
  std::vector<GraphBreaks> breaks;    // as they came
  std::uint64_t left_out = 0;         // compilations past kMost of each
  std::string missing;                // as Summary's
  ReplayReport report;
};

// NotFound as AnalyzeSummary.
absl::StatusOr<CompiledFrames> AnalyzeCompiledFrames(const Capture& capture, const Selection& selection);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPILED_COMPILED_FRAMES_H_
