// What viewers of traces draw, in the order in which they want it: processes with their threads, slices that begin and
// end, counters, and instants. A format is a TraceSink; both have the same content (docs/exports.md).
#ifndef TOOLS_VIEW_TRACE_TRACE_FEED_H_
#define TOOLS_VIEW_TRACE_TRACE_FEED_H_

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "tools/analyze/calls/launched_runs.h"
#include "tools/analyze/tree/tree_stream.h"
#include "tools/model/capture.h"

namespace memoir {

// What a process or a thread is to the viewer. Numbers are the system's, but where two hosts have the same one, or a
// thread has that of an earlier one.
struct TraceThread {
  std::uint64_t pid = 0;
  std::uint64_t tid = 0;
};

struct TraceSlice {
  std::string_view name;
  // "operator", "autograd", "user range", "module", "Python function", "kernel launch", "cuda call"; of what ran on a
  // device "kernel", "copy", "fill"
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
  virtual void Instant(const TraceThread& thread, std::uint64_t ns, std::string_view name, std::uint64_t bytes) = 0;
  // "cuda:0 allocated" has so many bytes from here on.
  virtual void Count(std::uint64_t pid, std::uint64_t ns, std::string_view name, std::uint64_t bytes) = 0;
  virtual void Finish() = 0;
};

class TraceFeed {
 public:
  TraceFeed(const Capture& capture, TraceSink& sink) : capture_(capture), sink_(sink) {}

  void Add(const StreamedNode& node, const ReplayState& state);
  // Shown where its call was, on a track of its device and stream.
  void Ran(const KernelRunEvent& event, const ReplayState& state);
  void Changed(const Event& event, DeviceId device, std::uint64_t live_bytes, const ReplayState& state);
  void Finish();  // after all

 private:
  static constexpr std::size_t kCounters = 3;
  struct Open {
    std::uint32_t node;
    std::optional<std::uint64_t> end_ns;  // none: not recorded
  };
  struct Thread {
    TraceThread shown;
    std::vector<Open> open;       // outermost first
    std::uint64_t latest_ns = 0;  // of what was shown last: nothing after it may be earlier
  };
  struct Counters {
    std::array<std::string, kCounters> names;
    std::array<std::optional<std::uint64_t>, kCounters> shown;
  };

  std::uint64_t PidOf(ProcessId process);
  Thread& ThreadOf(ThreadId id, ProcessId process, const Dictionary& dictionary);
  void Close(Thread& thread, std::uint64_t ns);
  void CloseBefore(Thread& thread, const StreamedNode& node, std::uint64_t ns);
  void AddDeviceCall(const StreamedNode& node, const ReplayState& state);
  std::string_view KernelText(NameId kernel, const Dictionary& dictionary);
  void ShowRun(ProcessId process, const LaunchingCall& call, const DeviceRun& run, const ReplayState& state);
  Thread& TrackOf(ProcessId process, const DeviceRun& run, const Dictionary& dictionary);
  // Those of a process: its correlations are no other's.
  LaunchedRuns& RunsOf(ProcessId process);
  std::string_view ModuleText(ModuleId id, const Dictionary& dictionary);
  std::string_view CallText(ModuleId id, const Dictionary& dictionary);
  std::string_view FunctionText(CodeId id, const Dictionary& dictionary);
  std::string_view NameOf(const StreamedNode& node, const Dictionary& dictionary);
  Counters& CountersOf(DeviceId device, const Dictionary& dictionary);

  const Capture& capture_;
  TraceSink& sink_;
  absl::flat_hash_map<ProcessId, std::uint64_t> pids_;
  absl::flat_hash_set<std::uint64_t> used_pids_;
  absl::flat_hash_set<std::pair<std::uint64_t, std::uint64_t>> used_tids_;  // with their process
  absl::flat_hash_map<ThreadId, Thread> threads_;
  absl::flat_hash_map<DeviceId, Counters> counters_;
  absl::flat_hash_map<ModuleId, std::string> modules_, calls_;
  absl::flat_hash_map<CodeId, std::string> functions_;
  absl::flat_hash_map<NameId, std::string> kernels_;
  absl::flat_hash_map<std::pair<ProcessId, std::pair<DeviceId, std::uint32_t>>, Thread> tracks_;  // by device, stream
  LaunchedRuns runs_;
  ProcessId runs_process_;
};

}  // namespace memoir

#endif  // TOOLS_VIEW_TRACE_TRACE_FEED_H_
