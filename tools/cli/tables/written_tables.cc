#include "tools/cli/tables/written_tables.h"

#include <cstddef>
#include <variant>

#include "tools/cli/output/output_file.h"
#include "tools/view/database/arrow_file.h"
#include "tools/view/database/parquet_file.h"

namespace memoir {

class WrittenTables::OpenTable {
 public:
  OpenTable(CaptureTable table, std::string_view what, const std::string& path) : output_(path) {
    const std::span<const TableColumn> columns = DefinitionOf(table).columns;
    const auto write = [this](std::string_view bytes) {
      output_.Write(bytes);
      return output_.status().ok();
    };
    // Readers of a destination that is not replaced (a pipe, standard output) read it from begin to end, so the stream
    // format is written.
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
  std::uint64_t bytes() const { return output_.bytes(); }

 private:
  OutputFile output_;
  std::variant<std::monostate, ArrowFile, ParquetFile> file_;
};

WrittenTables::WrittenTables() = default;
WrittenTables::~WrittenTables() = default;

std::unique_ptr<WrittenTables::OpenTable>& WrittenTables::At(CaptureTable table) {
  return tables_[static_cast<std::size_t>(table)];
}

void WrittenTables::Add(CaptureTable table, std::string_view what, const std::string& path) {
  At(table) = std::make_unique<OpenTable>(table, what, path);
  wanted_.Add(table);
}

void WrittenTables::Insert(CaptureTable table, std::span<const CellValue> row) { At(table)->Insert(row); }

TableSink WrittenTables::Sink() {
  return {wanted_, [this](CaptureTable table, std::span<const CellValue> row) { Insert(table, row); },
          [this] { return ok(); }};
}

absl::Status WrittenTables::Finish() {
  for (std::size_t i = 0; i < kTables; ++i) {
    if (tables_[i] == nullptr) continue;
    if (absl::Status status = tables_[i]->Finish(); !status.ok()) return status;
    file_bytes_[std::string(DefinitionOf(static_cast<CaptureTable>(i)).name)] = tables_[i]->bytes();
  }
  return absl::OkStatus();
}

bool WrittenTables::ok() const {
  for (const auto& table : tables_) {
    if (table != nullptr && !table->ok()) return false;
  }
  return true;
}

}  // namespace memoir
