#include "tools/cli/show/export_table_files.h"

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <system_error>
#include <variant>

#include "absl/status/status.h"
#include "tools/cli/output/new_folder.h"
#include "tools/cli/output/output_file.h"
#include "tools/cli/show/export_tables.h"
#include "tools/view/database/arrow_file.h"
#include "tools/view/database/parquet_file.h"

namespace memoir {
namespace {

class WrittenTable {
 public:
  WrittenTable(Table table, std::string_view what, const std::string& path) : output_(path) {
    const std::span<const Column> columns = DefinitionOf(table).columns;
    const auto write = [this](std::string_view bytes) {
      output_.Write(bytes);
      return output_.status().ok();
    };
    // A place that is not replaced (a pipe, standard output) is read from its first byte to its last: a stream.
    const auto form = output_.written_to() == path ? ArrowFile::Form::kStream : ArrowFile::Form::kFile;
    if (what == "parquet")
      file_.emplace<ParquetFile>(columns, write);
    else
      file_.emplace<ArrowFile>(columns, form, write);
  }

  void Insert(std::span<const CellValue> row) {
    if (auto* arrow = std::get_if<ArrowFile>(&file_)) arrow->Insert(row);
    if (auto* parquet = std::get_if<ParquetFile>(&file_)) parquet->Insert(row);
  }
  bool ok() const {
    const auto* arrow = std::get_if<ArrowFile>(&file_);
    return arrow != nullptr ? arrow->ok() : std::get<ParquetFile>(file_).ok();
  }
  absl::Status Finish() {
    auto* arrow = std::get_if<ArrowFile>(&file_);
    const absl::Status whole = arrow != nullptr ? arrow->Finish() : std::get<ParquetFile>(file_).Finish();
    if (const absl::Status written = output_.status(); !written.ok()) return written;
    return whole.ok() ? output_.Finish() : whole;
  }

 private:
  OutputFile output_;
  std::variant<std::monostate, ArrowFile, ParquetFile> file_;
};

class WrittenTables {
 public:
  void Add(Table table, std::string_view what, const std::string& path) {
    At(table) = std::make_unique<WrittenTable>(table, what, path);
    wanted_.Add(table);
  }

  TableSink Sink() {
    return {wanted_, [this](Table table, std::span<const CellValue> row) { At(table)->Insert(row); },
            [this] { return Ok(); }};
  }

  absl::Status Finish() {
    for (auto& table : tables_) {
      if (table == nullptr) continue;
      if (absl::Status status = table->Finish(); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  bool Ok() const {
    for (const auto& table : tables_) {
      if (table != nullptr && !table->ok()) return false;
    }
    return true;
  }

 private:
  std::unique_ptr<WrittenTable>& At(Table table) { return tables_[static_cast<std::size_t>(table)]; }

  std::array<std::unique_ptr<WrittenTable>, kTables> tables_;
  TableSet wanted_;
};

absl::StatusOr<ReplayReport> Fill(const Capture& capture, const Selection& selection, WrittenTables& tables) {
  const TableSink sink = tables.Sink();
  absl::StatusOr<ReplayReport> report = ReplayReport();
  if (sink.ok()) report = FillTables(capture, selection, sink);
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
  WrittenTables tables;
  for (std::size_t i = 0; i < kTables; ++i) {
    const auto table = static_cast<Table>(i);
    if (!wanted.has(table)) continue;
    const std::string name = std::string(DefinitionOf(table).name) + "." + std::string(what);
    tables.Add(table, what, is_folder ? folder.File(name) : path);
  }
  absl::StatusOr<ReplayReport> report = Fill(capture, selection, tables);
  if (report.ok()) folder.Keep();
  return report;
}

}  // namespace memoir
