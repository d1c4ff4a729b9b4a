// A thread of a torch.profiler trace while its spans become events: what is open on it, and what ends next.
#ifndef TOOLS_IMPORT_TRACED_THREAD_H_
#define TOOLS_IMPORT_TRACED_THREAD_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/import/profiler_trace.h"

namespace memoir {

struct TracedThread {
  using Span = ProfilerTrace::Span;

  std::uint32_t number = 0;       // in the capture
  std::size_t next = 0, end = 0;  // of the spans
  // Outermost first. A user range may begin in a function (as its __enter__) and end behind it.
  std::vector<Span> ranges;
  std::vector<Span> functions;              // of Python, and modules
  std::vector<std::uint32_t> stacks = {0};  // of Python, of its open functions
  std::vector<std::size_t> modules = {0};   // likewise, of ProfilerNames

  // Whichever of the two has what ends next, as its last; nullptr: nothing is open.
  std::vector<Span>* EndingNext() {
    if (functions.empty()) return ranges.empty() ? nullptr : &ranges;
    if (ranges.empty()) return &functions;
    const Span &range = ranges.back(), &function = functions.back();
    if (range.end != function.end) return range.end < function.end ? &ranges : &functions;
    return range.begin >= function.begin ? &ranges : &functions;
  }
};

}  // namespace memoir

#endif  // TOOLS_IMPORT_TRACED_THREAD_H_
