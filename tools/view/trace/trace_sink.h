// What viewers of traces draw, in the order in which they want it: processes with their threads, slices that begin and
// end, counters, and instants. Each format of a file is one (docs/exports.md).
#ifndef TOOLS_VIEW_TRACE_TRACE_SINK_H_
#define TOOLS_VIEW_TRACE_TRACE_SINK_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace memoir {

// What a process or a thread is to the viewer. Numbers are the system's, but where two hosts have the same one, or a
// thread has that of an earlier one.
struct TraceThread {
  std::uint64_t pid = 0;
  std::uint64_t tid = 0;
};

struct TraceSlice {
  std::string_view name;
  // "operator", "autograd", "user range", "module", "Python function", "kernel launch", "cuda call", "step"; of what
  // ran on a device "kernel", "copy", "fill"
  std::string_view category;
  std::string_view module;  // "": of none
  std::string_view phase;
  std::uint64_t allocated = 0;  // bytes, at or under it, as the next
  std::uint64_t freed = 0;
  // Of a call of CUDA, which has no other bytes, and of what ran.
  std::string_view device{};  // "": it is none
  std::uint64_t stream = 0;
  std::uint64_t bytes = 0;  // that it copies or sets
};

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  // Before anything else of it.
  virtual void AddProcess(std::uint64_t pid, std::string_view name) = 0;
  virtual void AddThread(const TraceThread& thread, std::string_view name) = 0;
  // Slices of a thread are inside each other: what began last ends first.
  virtual void Begin(const TraceThread& thread, std::uint64_t ns, const TraceSlice& slice) = 0;
  virtual void End(const TraceThread& thread, std::uint64_t ns) = 0;
  virtual void Instant(const TraceThread& thread, std::uint64_t ns, std::string_view name,
                       std::optional<std::uint64_t> bytes) = 0;
  // "cuda:0 allocated" has so many bytes from here on.
  virtual void Count(std::uint64_t pid, std::uint64_t ns, std::string_view name, std::uint64_t bytes) = 0;
  virtual void Finish() = 0;
};

}  // namespace memoir

#endif  // TOOLS_VIEW_TRACE_TRACE_SINK_H_
