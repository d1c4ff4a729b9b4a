#include "tools/cli/show/export_arrow.h"

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>

#include "absl/status/status.h"
#include "tools/cli/output/new_folder.h"
#include "tools/cli/output/output_file.h"
#include "tools/cli/show/export_tables.h"
#include "tools/view/database/arrow_file.h"

namespace memoir {
namespace {

// A file whose place cannot be written twice (a pipe, standard output) gets a stream.
class WrittenTable {
 public:
  WrittenTable(Table table, const std::string& path)
      : output_(path),
        arrow_(table, output_.written_to() == path ? ArrowFile::Form::kStream : ArrowFile::Form::kFile,
               [this](std::string_view bytes) {
                 output_.Write(bytes);
                 return output_.status().ok();
               }) {}

  void Insert(std::span<const CellValue> row) { arrow_.Insert(row); }
  bool ok() const { return arrow_.ok(); }
  absl::Status Finish() {
    const absl::Status arrow = arrow_.Finish();
    if (const absl::Status written = output_.status(); !written.ok()) return written;
    return arrow.ok() ? output_.Finish() : arrow;
  }

 private:
  OutputFile output_;
  ArrowFile arrow_;
};

class WrittenTables {
 public:
  void Add(Table table, const std::string& path) {
    At(table) = std::make_unique<WrittenTable>(table, path);
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

absl::StatusOr<ReplayReport> ExportArrow(const Capture& capture, const Selection& selection, const TableSet& wanted,
                                         const std::string& path) {
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
    const std::string name = std::string(DefinitionOf(table).name) + ".arrow";
    tables.Add(table, is_folder ? (folder.path() / name).string() : path);
  }
  absl::StatusOr<ReplayReport> report = Fill(capture, selection, tables);
  if (report.ok()) folder.Keep();
  return report;
}

}  // namespace memoir
