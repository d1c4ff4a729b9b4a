// The owners of a device's memory as a heap profile of Perfetto, which viewers show as a flame graph of stacks at one
// instant of the process.
#ifndef TOOLS_VIEW_TRACE_PERFETTO_HEAP_H_
#define TOOLS_VIEW_TRACE_PERFETTO_HEAP_H_

#include <cstdint>
#include <string>

#include "tools/view/flame/flame_samples.h"

namespace memoir {

struct PerfettoHeapFacts {
  std::string name;  // "cuda:0"
  std::uint64_t pid = 0;
  std::uint64_t ns = 0;        // time of the device's peak
  std::uint32_t sequence = 0;  // sequence of the packets; must be unique, because numbers of texts belong to a sequence
};

// Returns bytes to append to a trace. "Unreleased" bytes of a stack are its bytes at the peak; allocated bytes cover
// the whole selection.
std::string PerfettoHeap(const PerfettoHeapFacts& facts, const FlameSamples& samples);

}  // namespace memoir

#endif  // TOOLS_VIEW_TRACE_PERFETTO_HEAP_H_
