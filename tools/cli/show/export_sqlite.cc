#include "tools/cli/show/export_sqlite.h"

#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/lives/block_lives.h"
#include "tools/analyze/pass/step_times.h"
#include "tools/analyze/pass/windowed_visitor.h"
#include "tools/analyze/tree/tree_stream.h"
#include "tools/cli/output/output_file.h"
#include "tools/cli/terminal/message.h"
#include "tools/view/database/capture_tables.h"
#include "tools/view/database/sqlite_file.h"

namespace memoir {
namespace {

absl::Status CannotWrite(const std::string& path, const std::string& why) {
  return absl::UnavailableError("cannot write " + path + ": " + why);
}

// The next analysis is not begun where the disk is full.
absl::StatusOr<ReplayReport> Fill(const Capture& capture, const Selection& selection, SqliteFile& file) {
  Selection quiet = selection;
  quiet.progress = nullptr;
  const absl::StatusOr<BlockCategories> categories = CategorizeBlocks(capture, ReplayOptionsFor(quiet, true, false));
  if (!categories.ok()) return categories.status();
  CaptureTables tables(file, selection.own);
  const absl::StatusOr<std::vector<StepTime>> steps = FindStepTimes(capture, quiet);
  if (!steps.ok()) return steps.status();
  tables.AddSteps(*steps);
  TreeStreamOptions options;
  static_cast<Selection&>(options) = selection;
  options.go_on = [&file] { return file.status().ok(); };
  absl::StatusOr<ReplayReport> report = StreamTree(
      capture, options, [&](const StreamedNode& node, const ReplayState& state) { tables.AddNode(node, state); });
  if (!report.ok() || !file.status().ok()) return report;
  tables.AddRanks(capture, *report);
  const auto add = [&](const BlockLife& life, const ReplayState& state) { tables.AddBlock(life, *categories, state); };
  report = ForEachBlockLife(capture, quiet, *categories, add);
  if (report.ok()) tables.AddIndices();
  if (!categories->missing.empty()) Say(categories->missing);
  return report;
}

}  // namespace

absl::StatusOr<ReplayReport> ExportSqlite(const Capture& capture, const Selection& selection, const std::string& path) {
  OutputFile output(path);
  if (const absl::Status opened = output.status(); !opened.ok()) return opened;
  if (output.written_to() == path) return CannotWrite(path, "a database goes into a file of its own");
  absl::StatusOr<ReplayReport> report = ReplayReport();
  {
    const Capture::SharedDecoding shared(capture);
    SqliteFile file(output.written_to());
    if (file.status().ok()) report = Fill(capture, selection, file);
    const absl::Status written = file.Finish();
    if (report.ok() && !written.ok()) report = CannotWrite(path, std::string(written.message()));
  }
  if (!report.ok()) return report;
  const absl::Status finished = output.Finish();
  return finished.ok() ? report : finished;
}

}  // namespace memoir
