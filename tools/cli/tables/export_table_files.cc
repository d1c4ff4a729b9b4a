#include "tools/cli/tables/export_table_files.h"

#include <cstddef>
#include <filesystem>
#include <system_error>

#include "absl/status/status.h"
#include "tools/cli/output/new_folder.h"
#include "tools/cli/tables/export_ranks.h"
#include "tools/cli/tables/export_tables.h"
#include "tools/cli/tables/table_manifest.h"
#include "tools/cli/tables/written_tables.h"
#include "tools/cli/terminal/printed_messages.h"

namespace memoir {
namespace {

absl::StatusOr<ReplayReport> Fill(const Capture& capture, const Selection& selection, WrittenTables& tables) {
  const TableSink sink = tables.Sink();
  absl::StatusOr<ReplayReport> report = ReplayReport();
  if (sink.ok()) report = FillTables(capture, selection, CompareRanksFor(capture, sink.wanted), sink, PrintMessage);
  if (!report.ok()) return report;
  const absl::Status written = tables.Finish();
  return written.ok() ? report : written;
}

}  // namespace

bool IsTableFiles(std::string_view what) { return what == "arrow" || what == "parquet"; }

absl::StatusOr<ReplayReport> ExportTableFiles(const Capture& capture, std::string_view what, const Selection& selection,
                                              const TableSet& wanted, const std::string& path) {
  std::error_code ignored;
  const bool is_folder = wanted.size() > 1 || path.ends_with('/') || std::filesystem::is_directory(path, ignored);
  NewFolder folder(path);
  if (is_folder) {
    if (const absl::Status status = folder.Prepare(); !status.ok()) return status;
  }
  const bool is_parquet_folder = is_folder && what == "parquet";
  if (is_parquet_folder && IsJobOfRanks(capture)) return ExportRanks(capture, selection, wanted, folder);
  WrittenTables tables;
  for (std::size_t i = 0; i < kTables; ++i) {
    const auto table = static_cast<CaptureTable>(i);
    if (!wanted.has(table)) continue;
    const std::string name = std::string(DefinitionOf(table).name) + "." + std::string(what);
    tables.Add(table, what, is_folder ? folder.File(name) : path);
  }
  absl::StatusOr<ReplayReport> report = Fill(capture, selection, tables);
  if (report.ok() && is_parquet_folder) {
    if (const absl::Status status = TableManifest(tables.file_bytes()).Write(folder); !status.ok()) return status;
  }
  if (report.ok()) folder.Keep();
  return report;
}

}  // namespace memoir
