// Passes a capture to a trace format (trace_sink.h), so that all formats have the same content.
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
#include "tools/analyze/pass/step_times.h"
#include "tools/analyze/tree/tree_stream.h"
#include "tools/model/capture.h"
#include "tools/view/trace/trace_sink.h"

namespace memoir {

class TraceFeed {
 public:
  // `taken_pids`: processes that the viewer shows in addition to the capture.
  TraceFeed(const Capture& capture, TraceSink& sink, absl::flat_hash_set<std::uint64_t> taken_pids = {})
      : capture_(capture), sink_(sink), has_others_(!taken_pids.empty()), used_pids_(std::move(taken_pids)) {}

  // Adds a counter for each device: the live bytes of the blocks that the selection of modules and sizes contains.
  void CountChosenBlocks() { counts_chosen_ = true; }

  // Returns the number that the process has in the viewer.
  std::uint64_t PidOf(ProcessId process);
  void Add(const StreamedNode& node, const ReplayState& state);
  // Shows the run on the track of its device and stream, as soon as the call that launched it is known.
  void AddKernelRun(const KernelRunEvent& event, const ReplayState& state);
  void AddDeviceChange(const Event& event, DeviceId device, LiveBytes live, const ReplayState& state);
  void AddMark(const MarkEvent& event, const ReplayState& state);
  // Call it last. `steps`: the result of FindStepTimes. Steps outside of the shown time are left out.
  void Finish(const std::vector<StepTime>& steps);
  bool is_empty() const { return shown_.empty(); }

 private:
  static constexpr std::size_t kCounters = 4;
  struct OpenSlice {
    std::uint32_t node;
    std::optional<std::uint64_t> end_ns;  // nullopt: not recorded
  };
  struct Thread {
    TraceThread shown;
    std::vector<OpenSlice> open;  // outermost first
    std::uint64_t latest_ns = 0;  // time of the newest shown event; a later event must not be earlier
  };
  struct Counters {
    std::array<std::string, kCounters> names;
    std::array<std::optional<std::uint64_t>, kCounters> shown;
  };

  struct TimeExtent {
    std::uint64_t first_ns = 0, latest_ns = 0;
  };

  void NoteTime(ProcessId process, std::uint64_t ns);
  void ShowSteps(const std::vector<StepTime>& steps);
  Thread& ThreadOf(ThreadId id, ProcessId process, const Dictionary& dictionary);
  void Close(Thread& thread, std::uint64_t ns);
  void CloseBefore(Thread& thread, const StreamedNode& node, std::uint64_t ns);
  void AddDeviceCall(const StreamedNode& node, const ReplayState& state);
  std::string_view KernelText(NameId kernel, const Dictionary& dictionary);
  void ShowRun(ProcessId process, const LaunchingCall& call, const DeviceRun& run, const ReplayState& state);
  Thread& TrackOf(ProcessId process, const DeviceRun& run, const Dictionary& dictionary);
  // Returns the runs of one process, because correlation ids are unique only within it.
  LaunchedRuns& RunsOf(ProcessId process);
  std::string_view ModuleText(ModuleId id, const Dictionary& dictionary);
  std::string_view CallText(ModuleId id, const Dictionary& dictionary);
  std::string_view FunctionText(CodeId id, const Dictionary& dictionary);
  std::string_view NameOf(const StreamedNode& node, const Dictionary& dictionary);
  Counters& CountersOf(DeviceId device, const Dictionary& dictionary);

  const Capture& capture_;
  TraceSink& sink_;
  const bool has_others_;
  bool counts_chosen_ = false;
  absl::flat_hash_map<ProcessId, std::uint64_t> pids_;
  absl::flat_hash_set<std::uint64_t> used_pids_;
  absl::flat_hash_set<std::pair<std::uint64_t, std::uint64_t>> used_tids_;  // thread and process
  absl::flat_hash_map<ProcessId, TimeExtent> shown_;
  absl::flat_hash_map<ThreadId, Thread> threads_;
  absl::flat_hash_map<DeviceId, Counters> counters_;
  absl::flat_hash_map<ModuleId, std::string> modules_, calls_;
  absl::flat_hash_map<CodeId, std::string> functions_;
  absl::flat_hash_map<NameId, std::string> kernels_;
  // By process, device and stream.
  absl::flat_hash_map<std::pair<ProcessId, std::pair<DeviceId, std::uint32_t>>, Thread> tracks_;
  LaunchedRuns runs_;
  ProcessId runs_process_;
};

}  // namespace memoir

#endif  // TOOLS_VIEW_TRACE_TRACE_FEED_H_
