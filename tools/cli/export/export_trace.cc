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

// Limit on heap profiles (perfetto_heap.h), because each needs a replay of the recording.
constexpr std::size_t kMostHeaps = 8;
constexpr std::uint32_t kFirstHeapSequence = 2;  // 1 is the sequence of the events

absl::StatusOr<ReplayReport> Feed(const Capture& capture, const TraceExport& asked, const Selection& selection,
                                  TraceFeed& feed) {
  TreeStreamOptions options;
  static_cast<Selection&>(options) = selection;
  options.thread = asked.thread;
  options.go_on = asked.go_on;
  options.see_change = [&](const Event& event, DeviceId device, LiveBytes live, const ReplayState& state) {
    feed.AddDeviceChange(event, device, live, state);
  };
  if (!selection.takes_all_blocks()) feed.CountChosenBlocks();
  options.see_run = [&](const KernelRunEvent& event, const ReplayState& state) { feed.AddKernelRun(event, state); };
  options.see_mark = [&](const MarkEvent& event, const ReplayState& state) {
    const std::string_view name = state.dictionary().text(event.name);
    if (!IsHolderNote(name) && !IsFullStepsNote(name)) feed.AddMark(event, state);
  };
  absl::StatusOr<ReplayReport> report =
      StreamTree(capture, options, [&](const StreamedNode& node, const ReplayState& state) { feed.Add(node, state); });
  if (!report.ok()) return report;
  Selection quiet = selection;
  quiet.progress = nullptr;
  const absl::StatusOr<std::vector<StepTime>> steps = FindStepTimes(capture, quiet);
  if (!steps.ok()) return steps.status();
  feed.Finish(*steps);
  return report;
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
  absl::StatusOr<ReplayReport> report = Feed(capture, asked, merged, feed);
  if (report.ok() ? feed.is_empty() : report.status().code() == absl::StatusCode::kNotFound && !chosen)
    return OfAnotherRun(*trace, asked.merge, capture);
  return report;
}

// Returns true if a selection by name and rank can select this device alone, among the devices with any memory.
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

// Adds the owners of each device's peak: Python callers; modules and operators if the recording has no stacks.
absl::Status AddHeaps(const Capture& capture, const Selection& selection, TraceFeed& feed, const Write& write) {
  SummaryOptions summarized;
  static_cast<Selection&>(summarized) = selection;
  summarized.progress = nullptr;
  const absl::StatusOr<Summary> summary = AnalyzeSummary(capture, summarized);
  if (!summary.ok()) return summary.status();
  std::uint32_t sequence = kFirstHeapSequence;
  for (const DeviceRow& device : DevicesOfHeaps(summary->devices)) {
    StackTreeOptions options;
    static_cast<Selection&>(options) = summarized;
    options.device = device.name;
    options.rank = device.rank;
    absl::StatusOr<StackTree> tree = AnalyzeStackTree(capture, options);
    if (tree.ok() && tree->missing == kNoStacks) {
      options.kind = StackTreeOptions::Kind::kPlaces;
      tree = AnalyzeStackTree(capture, options);
    }
    if (!tree.ok()) return tree.status();
    write(PerfettoHeap({device.name, feed.PidOf(device.process), device.peak_ns, sequence++}, SamplesOf(*tree)));
  }
  return absl::OkStatus();
}

}  // namespace

bool IsTraceExport(std::string_view what) { return what == "perfetto" || what == "chrome"; }

absl::StatusOr<ReplayReport> ExportTrace(const Capture& capture, const TraceExport& asked, const Selection& selection,
                                         const Write& write) {
  const Capture::SharedDecoding shared(capture);
  if (!asked.merge.empty()) return MergeTrace(capture, asked, selection, write);
  if (asked.what == "chrome") {
    ChromeTrace sink(write);
    TraceFeed feed(capture, sink);
    return Feed(capture, asked, selection, feed);
  }
  PerfettoTrace sink(write);
  TraceFeed feed(capture, sink);
  absl::StatusOr<ReplayReport> report = Feed(capture, asked, selection, feed);
  if (!report.ok()) return report;
  if (const absl::Status status = AddHeaps(capture, selection, feed, write); !status.ok()) return status;
  return report;
}

}  // namespace memoir
