#include "tools/view/database/sqlite_file.h"

#include <sqlite3.h>

#include <cstddef>
#include <cstdint>

namespace memoir {

namespace {

const char* SqlTypeOf(ColumnType type) {
  switch (type) {
    case ColumnType::kKey:
      return " INTEGER PRIMARY KEY";
    case ColumnType::kNumber:
    case ColumnType::kWide:
      return " INTEGER";
    case ColumnType::kText:
      return " TEXT";
  }
  return "";
}

}  // namespace

SqliteFile::SqliteFile(const std::string& path) {
  if (sqlite3_open_v2(path.c_str(), &database_, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK) Fail();
  // Incomplete files are deleted, so nothing has to survive a crash.
  Execute("PRAGMA journal_mode = OFF");
  Execute("PRAGMA synchronous = OFF");
  Execute("BEGIN");
}

SqliteFile::~SqliteFile() {
  for (sqlite3_stmt* insert : inserts_) sqlite3_finalize(insert);
  sqlite3_close(database_);
}

void SqliteFile::Fail() {
  if (!status_.ok()) return;
  const int error = database_ == nullptr ? SQLITE_NOMEM : sqlite3_errcode(database_);
  const std::string what = database_ == nullptr ? "no memory" : sqlite3_errmsg(database_);
  const std::string fix =
      error == SQLITE_FULL || error == SQLITE_IOERR ? "; make room there, or choose another -o" : "";
  status_ = absl::UnavailableError(what + fix);
}

void SqliteFile::Execute(const std::string& sql) {
  if (status_.ok() && sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK) Fail();
}

void SqliteFile::CreateTable(CaptureTable table) {
  const TableDefinition& definition = DefinitionOf(table);
  std::string columns, values;
  for (const TableColumn& column : definition.columns) {
    columns += (columns.empty() ? "" : ", ") + std::string(column.name) + SqlTypeOf(column.type);
    values += values.empty() ? "?" : ",?";
  }
  const std::string name(definition.name);
  Execute("CREATE TABLE " + name + "(" + columns + ")");
  sqlite3_stmt** insert = &inserts_[static_cast<std::size_t>(table)];
  const std::string sql = "INSERT INTO " + name + " VALUES(" + values + ")";
  if (status_.ok() && sqlite3_prepare_v2(database_, sql.c_str(), -1, insert, nullptr) != SQLITE_OK) Fail();
}

void SqliteFile::Insert(CaptureTable table, std::span<const CellValue> row) {
  if (!status_.ok()) return;
  sqlite3_stmt* insert = inserts_[static_cast<std::size_t>(table)];
  for (std::size_t i = 0; i < row.size(); ++i) {
    const int column = static_cast<int>(i) + 1;
    if (const auto* number = std::get_if<std::uint64_t>(&row[i])) {
      sqlite3_bind_int64(insert, column, static_cast<sqlite3_int64>(*number));
    } else if (const auto* text = std::get_if<std::string_view>(&row[i])) {
      sqlite3_bind_text(insert, column, text->data(), static_cast<int>(text->size()), SQLITE_STATIC);
    } else {
      sqlite3_bind_null(insert, column);
    }
  }
  if (sqlite3_step(insert) != SQLITE_DONE) Fail();
  sqlite3_reset(insert);
}

void SqliteFile::AddIndices() {
  Execute("CREATE INDEX operators_by_parent ON operators(parent)");
  Execute("CREATE INDEX blocks_by_time ON blocks(process, device, allocated_ns)");
}

absl::Status SqliteFile::Finish() {
  Execute("COMMIT");
  for (sqlite3_stmt* insert : inserts_) sqlite3_finalize(insert);
  inserts_ = {};
  if (status_.ok() && sqlite3_close(database_) != SQLITE_OK) Fail();
  if (status_.ok()) database_ = nullptr;
  return status_;
}

}  // namespace memoir
