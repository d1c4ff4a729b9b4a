// The elements of trace viewers: processes with their threads, slices that begin and end, counters, and instants. Each
// file format implements this interface (docs/exports.md).
#ifndef TOOLS_VIEW_TRACE_TRACE_SINK_H_
#define TOOLS_VIEW_TRACE_TRACE_SINK_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace memoir {

// A thread in the viewer. The numbers are the system's, unless two hosts use the same number, or a thread has the
// number of an earlier thread.
struct TraceThread {
  std::uint64_t pid = 0;
  std::uint64_t tid = 0;
};

struct TraceSlice {
  std::string_view name;
  // "operator", "autograd", "user range", "module", "Python function", "kernel launch", "cuda call", "step"; for work
  // on a device "kernel", "copy", "fill".
  std::string_view category;
  std::string_view module;  // empty: no module
  std::string_view phase;
  std::uint64_t allocated = 0;  // bytes allocated in the slice or below
  std::uint64_t freed = 0;      // bytes freed in the slice or below
  // The next three members are set for work on a device, and for CUDA calls, which have no `allocated` and `freed`.
  std::string_view device{};  // empty: no device
  std::uint64_t stream = 0;
  std::uint64_t bytes = 0;  // bytes that are copied or set
};

class TraceSink {
 public:
  virtual ~TraceSink() = default;
  // Called before all other functions for the process or thread.
  virtual void AddProcess(std::uint64_t pid, std::string_view name) = 0;
  virtual void AddThread(const TraceThread& thread, std::string_view name) = 0;
  // Slices of a thread are nested: the slice that began last ends first.
  virtual void Begin(const TraceThread& thread, std::uint64_t ns, const TraceSlice& slice) = 0;
  virtual void End(const TraceThread& thread, std::uint64_t ns) = 0;
  virtual void Instant(const TraceThread& thread, std::uint64_t ns, std::string_view name,
                       std::optional<std::uint64_t> bytes) = 0;
  // The counter `name`, such as "cuda:0 allocated", has the value `bytes` from `ns` on.
  virtual void Count(std::uint64_t pid, std::uint64_t ns, std::string_view name, std::uint64_t bytes) = 0;
  virtual void Finish() = 0;
};

}  // namespace memoir

#endif  // TOOLS_VIEW_TRACE_TRACE_SINK_H_
