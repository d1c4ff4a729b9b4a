#include "tools/cli/tables/export_sqlite.h"

#include <cstddef>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "tools/cli/output/output_file.h"
#include "tools/cli/tables/export_tables.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/view/database/sqlite_file.h"

namespace memoir {
namespace {

absl::Status CannotWrite(const std::string& path, const std::string& why) {
  return absl::UnavailableError("cannot write " + path + ": " + why);
}

}  // namespace

absl::StatusOr<ReplayReport> ExportSqlite(const Capture& capture, const Selection& selection, const std::string& path) {
  OutputFile output(path);
  if (const absl::Status opened = output.status(); !opened.ok()) return opened;
  if (output.written_to() == path) return CannotWrite(path, "a database goes into a file of its own");
  absl::StatusOr<ReplayReport> report = ReplayReport();
  {
    SqliteFile file(output.written_to());
    for (std::size_t i = 0; i < kTables; ++i) file.CreateTable(static_cast<CaptureTable>(i));
    const TableSink sink = {TableSet::All(),
                            [&file](CaptureTable table, std::span<const CellValue> row) { file.Insert(table, row); },
                            [&file] { return file.status().ok(); }};
    if (file.status().ok())
      report = FillTables(capture, selection, CompareRanksFor(capture, sink.wanted), sink, PrintMessage);
    if (report.ok()) file.AddIndices();
    const absl::Status written = file.Finish();
    if (report.ok() && !written.ok()) report = CannotWrite(path, std::string(written.message()));
  }
  if (!report.ok()) return report;
  const absl::Status finished = output.Finish();
  return finished.ok() ? report : finished;
}

}  // namespace memoir
