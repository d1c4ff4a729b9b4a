// A thread of a torch.profiler trace while its spans become events: its open spans, and the span that ends next.
#ifndef TOOLS_IMPORT_TRACE_TRACED_THREAD_H_
#define TOOLS_IMPORT_TRACE_TRACED_THREAD_H_

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tools/import/trace/profiler_trace.h"

namespace memoir {

struct TracedThread {
  using Span = ProfilerTrace::Span;

  std::uint32_t number = 0;       // number in the capture
  std::size_t next = 0, end = 0;  // range of its spans in ProfilerTrace::spans
  // Open spans, outermost first. A user range may begin in a function (such as its __enter__) and end after this
  // function ended.
  std::vector<Span> ranges;
  std::vector<Span> functions;              // Python functions and modules
  std::vector<std::uint32_t> stacks = {0};  // stacks of the open Python functions; 0: no function
  std::vector<std::size_t> modules = {0};   // ProfilerNames numbers of the open modules; 0: no module

  // Returns the list whose last span ends next. nullptr if no span is open.
  std::vector<Span>* EndingNext() {
    if (functions.empty()) return ranges.empty() ? nullptr : &ranges;
    if (ranges.empty()) return &functions;
    const Span &range = ranges.back(), &function = functions.back();
    if (range.end != function.end) return range.end < function.end ? &ranges : &functions;
    return range.begin >= function.begin ? &ranges : &functions;
  }
};

}  // namespace memoir

#endif  // TOOLS_IMPORT_TRACE_TRACED_THREAD_H_
