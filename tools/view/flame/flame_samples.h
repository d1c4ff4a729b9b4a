// A tree of stacks as viewers of flame graphs take it: frames, and samples that are a stack of them with its bytes.
#ifndef TOOLS_VIEW_FLAME_FLAME_SAMPLES_H_
#define TOOLS_VIEW_FLAME_FLAME_SAMPLES_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analyze/stacks/stack_tree.h"

namespace memoir {

// What a stack can be as wide as.
struct FlameMeasure {
  std::string_view word;      // of --measure
  std::string_view title;     // of people
  std::string_view in_pprof;  // as pprof names its own
  std::uint64_t StackSums::* bytes;
};
inline constexpr FlameMeasure kFlameMeasures[] = {
    {"peak", "bytes at the peak", "peak_space", &StackSums::bytes_at_peak},
    {"allocated", "allocated bytes", "alloc_space", &StackSums::allocated_bytes},
    {"temporary", "temporary bytes", "temporary_space", &StackSums::temporary_bytes},
    {"kept", "bytes live at the end", "kept_space", &StackSums::net_bytes},
};
// nullptr: there is none of that word.
const FlameMeasure* FindFlameMeasure(std::string_view word);

struct FlameFrame {
  std::string function;    // "Net.forward", "blocks.3.mlp", "(no Python line)"
  std::string file;        // "": it has none
  std::string short_file;  // as much of its end as tells it from others
  std::uint32_t line = 0;  // 0: not known
};

struct FlameSample {
  std::vector<std::uint32_t> frames;  // in FlameSamples::frames; the outermost first
  StackSums sums;                     // of what was allocated right there; not all are 0
};

struct FlameSamples {
  // Python has 1,000 by itself. What is deeper counts for the frame there: files grow with depth times stacks.
  static constexpr std::size_t kMostDepth = 2000;
  std::vector<FlameFrame> frames;
  std::vector<FlameSample> samples;
};

FlameSamples SamplesOf(const StackTree& tree);

}  // namespace memoir

#endif  // TOOLS_VIEW_FLAME_FLAME_SAMPLES_H_
