#include "tools/cli/export/export_trace.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/pass/step_times.h"
#include "tools/analyze/stacks/stack_tree.h"
#include "tools/analyze/summary/summary.h"
#include "tools/analyze/tree/tree_stream.h"
#include "tools/cli/export/kineto_merge.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/model/full_steps_note.h"
#include "tools/model/holder_note.h"
#include "tools/view/flame/flame_samples.h"
#include "tools/view/trace/chrome_trace.h"
#include "tools/view/trace/perfetto_heap.h"
#include "tools/view/trace/perfetto_trace.h"
#include "tools/view/trace/trace_feed.h"

namespace memoir {
namespace {

using Write = std::function<void(std::string_view)>;

// The most heap profiles (perfetto_heap.h) in a file. Each profile may need a replay of the recording.
constexpr std::size_t kMostHeaps = 8;
constexpr std::uint32_t kFirstHeapSequence = 2;  // sequence 1 contains the events

Task<absl::StatusOr<ReplayReport>> Feed(JointReplays& replays, const TraceExport& asked, TraceFeed& feed) {
  TreeStreamOptions options;
  static_cast<Selection&>(options) = replays.selection();
  options.thread = asked.thread;
  options.go_on = asked.go_on;
  options.see_change = [&](const Event& event, DeviceId device, LiveBytes live, const ReplayState& state) {
    feed.AddDeviceChange(event, device, live, state);
  };
  if (!options.takes_all_blocks()) feed.CountChosenBlocks();
  options.see_run = [&](const KernelRunEvent& event, const ReplayState& state) { feed.AddKernelRun(event, state); };
  options.see_mark = [&](const MarkEvent& event, const ReplayState& state) {
    const std::string_view name = state.dictionary().text(event.name);
    if (!IsHolderNote(name) && !IsFullStepsNote(name)) feed.AddMark(event, state);
  };
  const auto see = [&](const StreamedNode& node, const ReplayState& state) { feed.Add(node, state); };
  const Task<absl::StatusOr<ReplayReport>> stream = StreamTree(replays, options, see);
  const Task<absl::StatusOr<std::vector<StepTime>>> find_steps = FindStepTimes(replays, replays.selection());
  const absl::StatusOr<ReplayReport>& report = co_await stream;
  if (!report.ok()) co_return report.status();
  const absl::StatusOr<std::vector<StepTime>>& steps = co_await find_steps;
  if (!steps.ok()) co_return steps.status();
  feed.Finish(*steps);
  co_return report;
}

absl::StatusOr<ReplayReport> MergeTrace(const Capture& capture, const TraceExport& asked, const Selection& selection,
                                        const Write& write) {
  const absl::StatusOr<KinetoTrace> trace = OpenKinetoTrace(asked.merge);
  if (!trace.ok()) return trace.status();
  const bool chosen = selection.window.kind != SelectionWindow::Kind::kAll || !selection.takes_all_blocks();
  Selection merged = selection;
  if (const absl::Status status = SelectTimeOf(*trace, asked.merge, capture, merged); !status.ok()) return status;
  ChromeTrace sink(write, FrameOf(*trace, capture));
  TraceFeed feed(capture, sink, trace->pids);
  JointReplays replays(capture, merged);
  absl::StatusOr<ReplayReport> report = replays.Finish(Feed(replays, asked, feed));
  if (report.ok() ? feed.is_empty() : report.status().code() == absl::StatusCode::kNotFound && !chosen)
    return OfAnotherRun(*trace, asked.merge, capture);
  return report;
}

// Returns true if a selection by name and rank can select this device alone, among the devices on which memory was
// allocated.
bool CanBeSelected(const DeviceRow& device, const std::vector<DeviceRow>& devices) {
  return 1 == std::ranges::count_if(devices, [&](const DeviceRow& other) {
           return other.peak_allocated_bytes > 0 && other.name == device.name &&
                  (!device.rank || other.rank == device.rank);
         });
}

// Returns the devices with the highest peaks, highest first, at most kMostHeaps.
std::vector<DeviceRow> DevicesOfHeaps(const std::vector<DeviceRow>& all) {
  std::vector<DeviceRow> devices;
  bool left_out = false;
  for (const DeviceRow& device : all) {
    if (device.peak_allocated_bytes == 0) continue;
    const bool selectable = CanBeSelected(device, all);
    if (selectable) devices.push_back(device);
    left_out = left_out || !selectable;
  }
  if (left_out) PrintMessage("who holds a device is not shown of several processes of one rank");
  std::ranges::stable_sort(devices, std::ranges::greater(), &DeviceRow::peak_allocated_bytes);
  if (devices.size() <= kMostHeaps) return devices;
  PrintMessage(absl::StrCat("who holds a device is shown of the ", kMostHeaps,
                            " with the highest peaks; --rank chooses a rank"));
  devices.resize(kMostHeaps);
  return devices;
}

// Returns the tree of the stacks that allocated the live memory at the peak of the device in `options`. The stacks
// consist of Python callers, or of modules and operators if the recording has no Python stacks.
Task<absl::StatusOr<StackTree>> FindHolders(JointReplays& replays, StackTreeOptions options) {
  absl::StatusOr<StackTree> tree = co_await AnalyzeStackTree(replays, options);
  if (!tree.ok() || tree->missing != kNoStacks) co_return tree;
  options.kind = StackTreeOptions::Kind::kPlaces;
  co_return co_await AnalyzeStackTree(replays, options);
}

// Calls FindHolders. If `replays` also visit processes of other ranks, replays only the rank in `options`.
Task<absl::StatusOr<StackTree>> FindHoldersOfRank(JointReplays& replays, StackTreeOptions options) {
  if (options.rank == replays.selection().rank || replays.capture().processes().size() == 1)
    co_return co_await FindHolders(replays, options);
  JointReplays of_rank(replays.capture(), options);
  co_return of_rank.Finish(FindHolders(of_rank, options));
}

struct Heap {
  DeviceRow device;
  FlameSamples samples;
};

// Returns the heap profile of each device's peak.
Task<absl::StatusOr<std::vector<Heap>>> FindHeaps(SharedCategories& shared) {
  JointReplays& replays = shared.replays();
  SummaryOptions summarized;
  static_cast<Selection&>(summarized) = replays.selection();
  summarized.by = GroupBy::kRank;  // the rows are not used, and rows by rank need no additional replay
  summarized.errors = false;
  const absl::StatusOr<Summary> summary = co_await AnalyzeSummary(shared, summarized);
  if (!summary.ok()) co_return summary.status();
  const std::vector<DeviceRow> devices = DevicesOfHeaps(summary->devices);
  std::vector<Task<absl::StatusOr<StackTree>>> find;
  for (const DeviceRow& device : devices) {
    StackTreeOptions options;
    static_cast<Selection&>(options) = replays.selection();
    options.device = device.name;
    options.rank = device.rank;
    find.push_back(FindHoldersOfRank(replays, options));
  }
  std::vector<Heap> heaps;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const absl::StatusOr<StackTree>& tree = co_await find[i];
    if (!tree.ok()) co_return tree.status();
    heaps.push_back({devices[i], SamplesOf(*tree)});
  }
  co_return heaps;
}

Task<absl::StatusOr<ReplayReport>> WritePerfetto(SharedCategories& shared, const TraceExport& asked,
                                                 const Write& write) {
  PerfettoTrace sink(write);
  TraceFeed feed(shared.capture(), sink);
  const Task<absl::StatusOr<ReplayReport>> show = Feed(shared.replays(), asked, feed);
  const Task<absl::StatusOr<std::vector<Heap>>> find_heaps = FindHeaps(shared);
  const absl::StatusOr<ReplayReport>& report = co_await show;
  if (!report.ok()) co_return report.status();
  const absl::StatusOr<std::vector<Heap>>& heaps = co_await find_heaps;
  if (!heaps.ok()) co_return heaps.status();
  std::uint32_t sequence = kFirstHeapSequence;
  for (const auto& [device, samples] : *heaps)
    write(PerfettoHeap({device.name, feed.PidOf(device.process), device.peak_ns, sequence++}, samples));
  co_return report;
}

}  // namespace

bool IsTraceExport(std::string_view what) { return what == "perfetto" || what == "chrome"; }

absl::StatusOr<ReplayReport> ExportTrace(const Capture& capture, const TraceExport& asked, const Selection& selection,
                                         const Write& write) {
  if (!asked.merge.empty()) return MergeTrace(capture, asked, selection, write);
  JointReplays replays(capture, selection);
  if (asked.what == "chrome") {
    ChromeTrace sink(write);
    TraceFeed feed(capture, sink);
    return replays.Finish(Feed(replays, asked, feed));
  }
  SharedCategories shared(replays);
  return replays.Finish(WritePerfetto(shared, asked, write));
}

}  // namespace memoir
