#include "tools/analyze/report/report.h"

#include <algorithm>
#include <functional>
#include <future>
#include <memory>
#include <utility>

#include "tools/analyze/grouping/block_shapes.h"
#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/lives/leak_causes.h"
#include "tools/analyze/oom/out_of_memory.h"
#include "tools/analyze/pass/visitor_group.h"
#include "tools/analyze/report/first_look.h"
#include "tools/analyze/report/report_pass.h"
#include "tools/analyze/summary/summary_pass.h"

namespace memoir {
namespace {

// What has to be known of every block before the report can be made.
struct Prepared {
  std::vector<Grouping> groupings;  // as Wanted
  // Lines are numbered as they are met, in each of two replays that run side by side.
  Grouping lines_of_tables = Grouping::Of(GroupBy::kLine, {});
  std::map<DeviceId, DeviceLook> looks;
  std::map<ProcessId, std::uint64_t> windows;
  ReportWhole whole;
};

// By which blocks are told apart, then what else tables are made by.
std::vector<GroupBy> Wanted() {
  std::vector<GroupBy> wanted;
  for (const ReportGrouping& grouping : kReportGroupings) wanted.push_back(grouping.by);
  for (const GroupBy by : kReportTables) {
    if (std::ranges::find(wanted, by) == wanted.end()) wanted.push_back(by);
  }
  return wanted;
}

absl::StatusOr<Prepared> Prepare(const Capture& capture, const ReportOptions& options) {
  // Two replays side by side: each is bound by one processor.
  auto categories =
      std::async(std::launch::async, [&] { return CategorizeBlocks(capture, ReplayOptionsFor(options, true, false)); });
  Selection quiet = options;
  quiet.progress = nullptr;  // one of the two tells
  BlockShapes shapes;
  FirstLook look(capture, quiet);
  VisitorGroup both({&shapes, &look});
  ReplayOptions replay = ReplayOptionsFor(quiet, true, false);
  // As in the pass that follows, so that both find the same windows.
  replay.modules = replay.modules || quiet.window.kind != Window::Kind::kAll;
  const absl::StatusOr<ReplayReport> report = capture.Replay(both, replay);
  const absl::StatusOr<BlockCategories> found = categories.get();
  if (!report.ok()) return report.status();
  if (!found.ok()) return found.status();
  if (!look.found().ok()) return look.found();
  LibraryWorkspaces workspaces;
  if (found->rules.Any(IsOfLibrary)) {
    absl::StatusOr<LibraryWorkspaces> apart = FindLibraryWorkspaces(capture, ReplayOptionsFor(quiet, true, false));
    if (!apart.ok()) return apart.status();
    workspaces = *std::move(apart);
  }
  Prepared prepared;
  prepared.looks = look.ChooseBlocks(options.most_blocks);
  prepared.windows = look.window_counts();
  prepared.whole = look.whole();
  for (const GroupBy by : Wanted()) {
    if (by == GroupBy::kShape) {
      prepared.groupings.push_back(Grouping::OfShapes(shapes.Take()));
    } else {
      prepared.groupings.push_back(Grouping::Of(by, NeedsCategories(by) ? *found : BlockCategories()));
      if (Grouping::TellsWorkspaces(by)) prepared.groupings.back().SetApart(workspaces);
      if (by == GroupBy::kLine) prepared.lines_of_tables.SetApart(workspaces);
    }
  }
  return prepared;
}

// Summaries and leaks in a replay of their own: it has to find storages first seen, and the report has not.
absl::Status Summarize(const Capture& capture, const Selection& selection, const Prepared& prepared,
                       std::vector<Summary>& summaries, Leaks& leaks) {
  std::vector<std::unique_ptr<SummaryPass>> passes;
  LeakPass leaking(capture, selection, prepared.groupings.front().categories());
  std::vector<Visitor*> visitors = {&leaking};
  const std::vector<GroupBy> wanted = Wanted();
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
    if (!passes[i]->found().ok()) return passes[i]->found();
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

absl::StatusOr<Report> AnalyzeReport(const Capture& capture, const ReportOptions& options) {
  const Capture::SharedDecoding shared(capture);
  const absl::StatusOr<Prepared> prepared = Prepare(capture, options);
  if (!prepared.ok()) return prepared.status();
  Selection quiet = options;
  quiet.progress = nullptr;
  std::vector<Summary> summaries;
  Leaks leaks;
  auto summarized =
      std::async(std::launch::async, [&] { return Summarize(capture, quiet, *prepared, summaries, leaks); });
  std::vector<const Grouping*> groupings;
  for (const Grouping& grouping : prepared->groupings) groupings.push_back(&grouping);
  ReportPass pass(capture, options, groupings, prepared->looks, prepared->windows);
  ReplayOptions replay = ReplayOptionsFor(options, false, false);
  replay.modules = true;
  const absl::StatusOr<ReplayReport> replayed = capture.Replay(pass, replay);
  const absl::Status tables = summarized.get();
  if (!replayed.ok()) return replayed.status();
  if (!tables.ok()) return tables;
  Report report = pass.TakeReport();
  report.summaries = std::move(summaries);
  if (const absl::Status causes = AddCauses(capture, quiet, leaks); !causes.ok()) return causes;
  report.leaks = std::move(leaks);
  report.whole = prepared->whole;
  const absl::Status errors = AddOutOfMemory(capture, options.OfAllBlocks(), report.summaries);
  if (!errors.ok()) return errors;
  std::ranges::stable_partition(report.devices, &ReportDevice::caching);  // GPUs first
  return report;
}

}  // namespace memoir
