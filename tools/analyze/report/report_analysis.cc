#include "tools/analyze/report/report_analysis.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "tools/analyze/grouping/block_shapes.h"
#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/lives/leak_causes.h"
#include "tools/analyze/pass/visitor_group.h"
#include "tools/analyze/report/report_first_pass.h"
#include "tools/analyze/report/report_pass.h"
#include "tools/analyze/summary/summary_additions.h"
#include "tools/analyze/summary/summary_pass.h"

namespace memoir {
namespace {

// The results of the first replay, which the later replays of the report need.
struct ReportInputs {
  std::vector<Grouping> groupings;  // in the order of GroupingsOfReport
  // The grouping by line of the tables. It is not shared with the pass for blocks, which runs in the same replay: a
  // grouping numbers lines in the order of their first use, and each pass would change the numbers of the other.
  Grouping lines_of_tables = Grouping::Of(GroupBy::kLine, "");
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

Task<absl::StatusOr<ReportInputs>> Prepare(SharedCategories& shared, const ReportOptions& options) {
  shared.Find();  // starts the pass for categories; it runs in the same replay as the other two passes
  BlockShapePass shapes;
  ReportFirstPass first_pass(shared.capture(), options);
  VisitorGroup both({&shapes, &first_pass});
  // ReportPass's replay also has modules, so both replays find the same windows.
  const absl::StatusOr<ReplayReport> report = co_await shared.replays().Next(both, {.tensors = true, .modules = true});
  const absl::StatusOr<KnownCategories>& categories = co_await shared.Find();
  if (!report.ok()) co_return report.status();
  if (!categories.ok()) co_return categories.status();
  if (!first_pass.selection_status().ok()) co_return first_pass.selection_status();
  ReportInputs prepared;
  prepared.outlines = first_pass.ChooseBlocks(options.most_blocks);
  prepared.windows = first_pass.window_counts();
  prepared.whole = first_pass.whole();
  for (const GroupBy by : GroupingsOfReport()) {
    if (by == GroupBy::kShape) {
      prepared.groupings.push_back(Grouping::FromShapes(shapes.Take()));
    } else {
      prepared.groupings.push_back(NeedsCategories(by) ? Grouping::FromCategories(by, *categories)
                                                       : Grouping::Of(by, ""));
      if (Grouping::SeparatesWorkspaces(by)) prepared.groupings.back().SeparateWorkspaces((*categories)->workspaces);
      if (by == GroupBy::kLine) prepared.lines_of_tables.SeparateWorkspaces((*categories)->workspaces);
    }
  }
  co_return prepared;
}

// Makes the summaries and the leaks.
Task<absl::Status> Summarize(JointReplays& replays, const Selection& selection, const ReportInputs& prepared,
                             std::vector<Summary>& summaries, Leaks& leaks) {
  const Capture& capture = replays.capture();
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
  const absl::StatusOr<ReplayReport> report = co_await replays.Next(all, {.first_seen = true, .modules = true});
  if (!report.ok()) co_return report.status();
  for (std::size_t i = 0; i < passes.size(); ++i) {
    if (!passes[i]->selection_status().ok()) co_return passes[i]->selection_status();
    summaries.push_back(passes[i]->TakeSummary());
    summaries.back().by = kReportTables[i];
    summaries.back().report = *report;
  }
  leaks = leaking.Take();
  co_return absl::OkStatus();
}

}  // namespace

Task<absl::StatusOr<ReportContent>> AnalyzeReport(SharedCategories& shared, ReportOptions options) {
  JointReplays& replays = shared.replays();
  const auto checkpoints =
      options.takes_all_blocks() ? SummaryAdditions::Checkpoints::kAfterErrors : SummaryAdditions::Checkpoints::kNever;
  SummaryAdditions additions(shared, options, {checkpoints});
  const Task<absl::StatusOr<ReportInputs>> prepare = Prepare(shared, options);
  additions.Start(co_await LookForFailures(replays));
  const absl::StatusOr<ReportInputs>& prepared = co_await prepare;
  if (!prepared.ok()) co_return prepared.status();
  std::vector<Summary> summaries;
  Leaks leaks;
  Task<absl::Status> summarize = Summarize(replays, options, *prepared, summaries, leaks);
  std::vector<const Grouping*> groupings;
  for (const Grouping& grouping : prepared->groupings) groupings.push_back(&grouping);
  ReportPass pass(shared.capture(), options, groupings, prepared->outlines, prepared->windows);
  const absl::StatusOr<ReplayReport> replayed = co_await replays.Next(pass, {.modules = true});
  const absl::Status summarized = co_await std::move(summarize);
  if (!replayed.ok()) co_return replayed.status();
  if (!summarized.ok()) co_return summarized;
  ReportContent report = pass.TakeReport();
  Task<absl::Status> add_causes = AddLeakCauses(replays, options, leaks);
  const absl::Status added = co_await additions.AddTo(summaries.front());
  if (const absl::Status causes = co_await std::move(add_causes); !causes.ok()) co_return causes;
  if (!added.ok()) co_return added;
  for (Summary& summary : summaries) summary.out_of_memory = summaries.front().out_of_memory;
  report.summaries = std::move(summaries);
  report.leaks = std::move(leaks);
  report.whole = prepared->whole;
  std::ranges::stable_partition(report.devices, &ReportDevice::caching);  // GPUs first
  co_return report;
}

absl::StatusOr<ReportContent> AnalyzeReport(const Capture& capture, const ReportOptions& options) {
  JointReplays replays(capture, options);
  SharedCategories categories(replays);
  return replays.Finish(AnalyzeReport(categories, options));
}

}  // namespace memoir
