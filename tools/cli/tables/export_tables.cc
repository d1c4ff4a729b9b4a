#include "tools/cli/tables/export_tables.h"

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

absl::StatusOr<ReplayReport> FillNodes(const Capture& capture, const Selection& selection, const TableSink& sink,
                                       CaptureTables& tables) {
  TreeStreamOptions options;
  static_cast<Selection&>(options) = selection;
  options.memory = sink.wanted.has(CaptureTable::kEvents);
  options.go_on = sink.ok;
  return StreamTree(capture, options,
                    [&](const StreamedNode& node, const ReplayState& state) { tables.AddNode(node, state); });
}

absl::StatusOr<ReplayReport> FillBlocks(const Capture& capture, const Selection& selection, CaptureTables& tables,
                                        const std::function<void(std::string_view)>& say) {
  const absl::StatusOr<BlockCategories> categories = CategorizeBlocks(capture, selection);
  if (!categories.ok()) return categories.status();
  if (!categories->missing.empty()) say(categories->missing);
  return ForEachBlockLife(capture, selection, *categories, [&](const BlockLife& life, const ReplayState& state) {
    tables.AddBlock(life, *categories, state);
  });
}

absl::StatusOr<ReplayReport> FillSummary(const Capture& capture, const Selection& selection, CaptureTables& tables) {
  SummaryOptions options;
  static_cast<Selection&>(options) = selection;
  absl::StatusOr<Summary> summary = AnalyzeSummary(capture, options);
  if (!summary.ok()) return summary.status();
  tables.AddSummary(*summary);
  return std::move(summary->report);
}

}  // namespace

OddRanks CompareRanksFor(const Capture& capture, const TableSet& wanted) {
  return wanted.has(CaptureTable::kRanks) ? CompareRanksOf(capture) : OddRanks();
}

absl::StatusOr<ReplayReport> FillTables(const Capture& capture, const Selection& selection, const OddRanks& compared,
                                        const TableSink& sink, const std::function<void(std::string_view)>& say) {
  const Capture::SharedDecoding shared(capture);
  CaptureTables tables(sink, selection.own);
  Selection quiet = selection;
  quiet.progress = nullptr;
  absl::StatusOr<ReplayReport> report = ReplayReport();
  bool has_report = false;
  // No further analysis starts if the disk is full.
  const auto goes_on = [&] { return report.ok() && sink.ok(); };
  if (sink.wanted.has(CaptureTable::kSteps)) {
    const absl::StatusOr<std::vector<StepTime>> steps = FindStepTimes(capture, quiet);
    if (!steps.ok()) return steps.status();
    tables.AddSteps(*steps);
  }
  if (NeedsNodes(sink.wanted) && goes_on()) {
    report = FillNodes(capture, selection, sink, tables);
    has_report = true;
  }
  if (NeedsBlocks(sink.wanted) && goes_on()) {
    report = FillBlocks(capture, quiet, tables, say);
    has_report = true;
  }
  // The table of ranks takes durations from the report. For the table of steps, the caller needs the report's damage.
  const bool needs_report =
      (sink.wanted.has(CaptureTable::kRanks) || sink.wanted.has(CaptureTable::kSteps)) && !has_report;
  if ((sink.wanted.has(CaptureTable::kSummary) || needs_report) && goes_on())
    report = FillSummary(capture, quiet, tables);
  if (goes_on()) tables.AddRanks(capture, *report, compared);
  return report;
}

}  // namespace memoir
