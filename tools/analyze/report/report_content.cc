#include "tools/analyze/report/report_content.h"

#include <algorithm>
#include <functional>
#include <future>
#include <memory>
#include <utility>

#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/grouping/block_shapes.h"
#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/lives/leak_causes.h"
#include "tools/analyze/oom/out_of_memory.h"
#include "tools/analyze/pass/visitor_group.h"
#include "tools/analyze/report/report_first_pass.h"
#include "tools/analyze/report/report_pass.h"
#include "tools/analyze/summary/summary_pass.h"

namespace memoir {
namespace {

// The results of the first replays, which the later replays of the report need.
struct ReportInputs {
  std::vector<Grouping> groupings;  // in the order of GroupingsOfReport
  // The tables have their own grouping by line, because each replay numbers lines in the order in which it meets them,
  // and two replays run in parallel.
  Grouping lines_of_tables = Grouping::FromCategories(GroupBy::kLine, {});
  std::map<DeviceId, DeviceOutline> outlines;
  std::map<ProcessId, std::uint64_t> windows;
  ReportWhole whole;
};

// Returns the groupings of blocks, then the other groupings of tables.
std::vector<GroupBy> GroupingsOfReport() {
  std::vector<GroupBy> wanted;
  for (const ReportGrouping& grouping : kReportGroupings) wanted.push_back(grouping.by);
  for (const GroupBy by : kReportTables) {
    if (std::ranges::find(wanted, by) == wanted.end()) wanted.push_back(by);
  }
  return wanted;
}

absl::StatusOr<ReportInputs> Prepare(const Capture& capture, const ReportOptions& options) {
  // Runs two replays in parallel, because each is limited by one processor.
  auto categories =
      std::async(std::launch::async, [&] { return CategorizeBlocks(capture, ReplayOptionsFor(options, true, false)); });
  Selection quiet = options;
  quiet.progress = nullptr;  // only one of the two replays calls `progress`
  BlockShapePass shapes;
  ReportFirstPass first_pass(capture, quiet);
  VisitorGroup both({&shapes, &first_pass});
  ReplayOptions replay = ReplayOptionsFor(quiet, true, false);
  // ReportPass's replay has the same option. So both replays find the same windows.
  replay.modules = replay.modules || quiet.window.kind != SelectionWindow::Kind::kAll;
  const absl::StatusOr<ReplayReport> report = capture.Replay(both, replay);
  const absl::StatusOr<BlockCategories> found = categories.get();
  if (!report.ok()) return report.status();
  if (!found.ok()) return found.status();
  if (!first_pass.selection_status().ok()) return first_pass.selection_status();
  LibraryWorkspaces workspaces;
  if (found->rules.HasAny(IsOfLibrary)) {
    absl::StatusOr<LibraryWorkspaces> apart = FindLibraryWorkspaces(capture, ReplayOptionsFor(quiet, true, false));
    if (!apart.ok()) return apart.status();
    workspaces = *std::move(apart);
  }
  ReportInputs prepared;
  prepared.outlines = first_pass.ChooseBlocks(options.most_blocks);
  prepared.windows = first_pass.window_counts();
  prepared.whole = first_pass.whole();
  for (const GroupBy by : GroupingsOfReport()) {
    if (by == GroupBy::kShape) {
      prepared.groupings.push_back(Grouping::FromShapes(shapes.Take()));
    } else {
      prepared.groupings.push_back(Grouping::FromCategories(by, NeedsCategories(by) ? *found : BlockCategories()));
      if (Grouping::SeparatesWorkspaces(by)) prepared.groupings.back().SeparateWorkspaces(workspaces);
      if (by == GroupBy::kLine) prepared.lines_of_tables.SeparateWorkspaces(workspaces);
    }
  }
  return prepared;
}

// Makes summaries and leaks in a separate replay, because they need FirstSeenEvents (storages that are first seen as
// arguments). The report's own replay must not have these events.
absl::Status Summarize(const Capture& capture, const Selection& selection, const ReportInputs& prepared,
                       std::vector<Summary>& summaries, Leaks& leaks) {
  std::vector<std::unique_ptr<SummaryPass>> passes;
  LeakPass leaking(capture, selection, prepared.groupings.front().categories());
  std::vector<Visitor*> visitors = {&leaking};
  const std::vector<GroupBy> wanted = GroupingsOfReport();
  std::vector<const Grouping*> used;
  for (const GroupBy by : kReportTables) {
    const auto place = static_cast<std::size_t>(std::ranges::find(wanted, by) - wanted.begin());
    used.push_back(by == GroupBy::kLine ? &prepared.lines_of_tables : &prepared.groupings[place]);
    passes.push_back(std::make_unique<SummaryPass>(capture, selection, *used.back()));
    visitors.push_back(passes.back().get());
  }
  VisitorGroup all(visitors);
  ReplayOptions replay = ReplayOptionsFor(selection, false, true);
  replay.modules = true;
  const absl::StatusOr<ReplayReport> report = capture.Replay(all, replay);
  if (!report.ok()) return report.status();
  for (std::size_t i = 0; i < passes.size(); ++i) {
    if (!passes[i]->selection_status().ok()) return passes[i]->selection_status();
    summaries.push_back(passes[i]->TakeSummary());
    summaries.back().by = kReportTables[i];
    summaries.back().report = *report;
  }
  leaks = leaking.Take();
  return absl::OkStatus();
}

absl::Status AddOutOfMemory(const Capture& capture, const Selection& selection, std::vector<Summary>& summaries) {
  const auto ran_out = [](const DeviceRow& device) { return device.num_ooms > 0; };
  if (summaries.front().refusals == 0 && !std::ranges::any_of(summaries.front().devices, ran_out))
    return absl::OkStatus();
  const auto errors = AnalyzeOutOfMemory(capture, selection);
  if (!errors.ok()) return errors.status();
  for (Summary& summary : summaries) summary.out_of_memory = *errors;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<ReportContent> AnalyzeReport(const Capture& capture, const ReportOptions& options) {
  const Capture::SharedDecoding shared(capture);
  const absl::StatusOr<ReportInputs> prepared = Prepare(capture, options);
  if (!prepared.ok()) return prepared.status();
  Selection quiet = options;
  quiet.progress = nullptr;
  std::vector<Summary> summaries;
  Leaks leaks;
  auto summarized =
      std::async(std::launch::async, [&] { return Summarize(capture, quiet, *prepared, summaries, leaks); });
  std::vector<const Grouping*> groupings;
  for (const Grouping& grouping : prepared->groupings) groupings.push_back(&grouping);
  ReportPass pass(capture, options, groupings, prepared->outlines, prepared->windows);
  ReplayOptions replay = ReplayOptionsFor(options, false, false);
  replay.modules = true;
  const absl::StatusOr<ReplayReport> replayed = capture.Replay(pass, replay);
  const absl::Status tables = summarized.get();
  if (!replayed.ok()) return replayed.status();
  if (!tables.ok()) return tables;
  ReportContent report = pass.TakeReport();
  report.summaries = std::move(summaries);
  if (const absl::Status causes = AddLeakCauses(capture, quiet, leaks); !causes.ok()) return causes;
  report.leaks = std::move(leaks);
  report.whole = prepared->whole;
  const absl::Status errors = AddOutOfMemory(capture, options.WithAllBlocks(), report.summaries);
  if (!errors.ok()) return errors;
  std::ranges::stable_partition(report.devices, &ReportDevice::caching);  // GPUs first
  return report;
}

}  // namespace memoir
