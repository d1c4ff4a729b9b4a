// A tree of stacks in the form that viewers of flame graphs need: frames, and samples that consist of a stack and its
// bytes.
#ifndef TOOLS_VIEW_FLAME_FLAME_SAMPLES_H_
#define TOOLS_VIEW_FLAME_FLAME_SAMPLES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analyze/stacks/stack_tree.h"

namespace memoir {

// A sum of bytes that determines the width of a stack in a flame graph.
struct FlameMeasure {
  std::string_view word;      // the value of --measure
  std::string_view title;     // in text
  std::string_view in_pprof;  // pprof's name
  std::uint64_t StackSums::* bytes;
};
inline constexpr FlameMeasure kFlameMeasures[] = {
    {"peak", "bytes at the peak", "peak_space", &StackSums::bytes_at_peak},
    {"allocated", "allocated bytes", "alloc_space", &StackSums::allocated_bytes},
    {"temporary", "temporary bytes", "temporary_space", &StackSums::temporary_bytes},
    {"kept", "bytes live at the end", "kept_space", &StackSums::net_bytes},
};
// Returns the measure with this `word`. nullptr if no measure has it.
const FlameMeasure* FindFlameMeasure(std::string_view word);

struct FlameFrame {
  std::string function;    // "Net.forward", "blocks.3.mlp", "(no Python line)"
  std::string file;        // empty without a file
  std::string short_file;  // the shortest unique end of the path
  std::uint32_t line = 0;  // 0: unknown
};

struct FlameSample {
  std::vector<std::uint32_t> frames;  // indices in FlameSamples::frames, outermost first
  StackSums sums;                     // sums of the allocations in the innermost frame itself; at least one is not 0
};

struct FlameSamples {
  // Deeper frames count for the frame at this depth, because file size grows with depth times stacks. Python's own
  // limit is 1,000.
  static constexpr std::size_t kMostDepth = 2000;
  std::vector<FlameFrame> frames;
  std::vector<FlameSample> samples;
};

FlameSamples SamplesOf(const StackTree& tree);

}  // namespace memoir

#endif  // TOOLS_VIEW_FLAME_FLAME_SAMPLES_H_
