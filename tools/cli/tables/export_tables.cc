#include "tools/cli/tables/export_tables.h"

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/lives/block_lives.h"
#include "tools/analyze/pass/step_times.h"
#include "tools/analyze/pass/window/windowed_visitor.h"
#include "tools/analyze/summary/summary.h"
#include "tools/analyze/tree/tree_stream.h"
#include "tools/cli/ranks/compared_job.h"
#include "tools/view/database/capture_tables.h"

namespace memoir {
namespace {

// Returns true if the tables need the nodes of the event tree. A module has a row only after a node has named it.
bool NeedsNodes(const TableSet& wanted) {
  return wanted.has(CaptureTable::kOperators) || wanted.has(CaptureTable::kEvents) ||
         wanted.has(CaptureTable::kCalls) || wanted.has(CaptureTable::kModules);
}
bool NeedsBlocks(const TableSet& wanted) {
  return wanted.has(CaptureTable::kBlocks) || wanted.has(CaptureTable::kModules);
}

Task<absl::StatusOr<ReplayReport>> FillNodes(JointReplays& replays, const TableSink& sink, CaptureTables& tables) {
  TreeStreamOptions options;
  static_cast<Selection&>(options) = replays.selection();
  options.memory = sink.wanted.has(CaptureTable::kEvents);
  options.go_on = sink.ok;
  return StreamTree(replays, options,
                    [&tables](const StreamedNode& node, const ReplayState& state) { tables.AddNode(node, state); });
}

// `categories` must outlive the task.
Task<absl::StatusOr<ReplayReport>> FillBlocks(JointReplays& replays, const BlockCategories& categories,
                                              CaptureTables& tables) {
  return ForEachBlockLife(replays, replays.selection(), categories,
                          [&tables, &categories](const BlockLife& life, const ReplayState& state) {
                            tables.AddBlock(life, categories, state);
                          });
}

Task<absl::StatusOr<ReplayReport>> FillSummary(SharedCategories& shared, CaptureTables& tables) {
  SummaryOptions options;
  static_cast<Selection&>(options) = shared.replays().selection();
  options.by = GroupBy::kRank;  // the rows are not used, and rows by rank need no additional replay
  options.errors = false;
  absl::StatusOr<Summary> summary = co_await AnalyzeSummary(shared, options);
  if (!summary.ok()) co_return summary.status();
  tables.AddSummary(*summary);
  co_return std::move(summary->report);
}

Task<absl::StatusOr<ReplayReport>> Fill(SharedCategories& shared, const TableSink& sink, CaptureTables& tables,
                                        const std::function<void(std::string_view)>& say) {
  JointReplays& replays = shared.replays();
  const bool has_nodes = NeedsNodes(sink.wanted), has_blocks = NeedsBlocks(sink.wanted);
  std::optional<Task<absl::StatusOr<std::vector<StepTime>>>> find_steps;
  std::vector<Task<absl::StatusOr<ReplayReport>>> fills;
  if (has_nodes) fills.push_back(FillNodes(replays, sink, tables));
  // The table `ranks` needs the durations in a replay's report. So if no other table needs a replay, the replay for the
  // summary runs.
  if (sink.wanted.has(CaptureTable::kSummary) || !(has_nodes || has_blocks))
    fills.push_back(FillSummary(shared, tables));
  if (sink.wanted.has(CaptureTable::kSteps)) find_steps.emplace(FindStepTimes(replays, replays.selection()));
  std::string missing;
  if (has_blocks) {
    const absl::StatusOr<KnownCategories>& categories = co_await shared.Find();
    if (!categories.ok()) co_return categories.status();
    missing = (*categories)->missing;
    fills.push_back(FillBlocks(replays, **categories, tables));
  }
  absl::StatusOr<ReplayReport> report;
  for (const Task<absl::StatusOr<ReplayReport>>& fill : fills) {
    report = co_await fill;
    if (!report.ok() || !sink.ok()) co_return report;
  }
  if (find_steps) {
    const absl::StatusOr<std::vector<StepTime>>& steps = co_await *find_steps;
    if (!steps.ok()) co_return steps.status();
    tables.AddSteps(*steps);
  }
  if (!missing.empty()) say(missing);
  tables.AddModulesOfBlocks();
  co_return report;
}

}  // namespace

OddRanks CompareRanksFor(const Capture& capture, const TableSet& wanted) {
  return wanted.has(CaptureTable::kRanks) ? CompareRanksOf(capture) : OddRanks();
}

absl::StatusOr<ReplayReport> FillTables(const Capture& capture, const Selection& selection, const OddRanks& compared,
                                        const TableSink& sink, const std::function<void(std::string_view)>& say) {
  CaptureTables tables(sink, selection.own);
  JointReplays replays(capture, selection);
  SharedCategories shared(replays);
  absl::StatusOr<ReplayReport> report = replays.Finish(Fill(shared, sink, tables, say));
  if (report.ok() && sink.ok()) tables.AddRanks(capture, *report, compared);
  return report;
}

}  // namespace memoir
