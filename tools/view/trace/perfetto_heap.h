// Who holds a device's memory, as Perfetto shows heaps: a flame graph of stacks behind a mark on the process.
#ifndef TOOLS_VIEW_TRACE_PERFETTO_HEAP_H_
#define TOOLS_VIEW_TRACE_PERFETTO_HEAP_H_

#include <cstdint>
#include <string>

#include "tools/view/flame/flame_samples.h"

namespace memoir {

struct PerfettoHeapFacts {
  std::string name;  // "cuda:0"
  std::uint64_t pid = 0;
  std::uint64_t ns = 0;        // of its peak
  std::uint32_t sequence = 0;  // of packets: one of its own, for numbers of texts are of a sequence
};

// Bytes to put behind those of a trace. "Unreleased" bytes of a stack are those at the peak; allocated ones those of
// the whole window.
std::string PerfettoHeap(const PerfettoHeapFacts& facts, const FlameSamples& samples);

}  // namespace memoir

#endif  // TOOLS_VIEW_TRACE_PERFETTO_HEAP_H_
