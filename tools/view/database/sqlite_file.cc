#include "tools/view/database/sqlite_file.h"

#include <sqlite3.h>

#include <algorithm>
#include <utility>

namespace memoir {

SqliteFile::SqliteFile(const std::string& path) {
  if (sqlite3_open_v2(path.c_str(), &database_, SQLITE_OPEN_READWRITE, nullptr) != SQLITE_OK) Fail();
  // A file that is not whole is thrown away, so nothing has to survive a crash.
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

std::size_t SqliteFile::CreateTable(const std::string& name, const std::string& columns) {
  Execute("CREATE TABLE " + name + "(" + columns + ")");
  std::string values = "?";
  for (auto commas = std::ranges::count(columns, ','); commas > 0; --commas) values += ",?";
  inserts_.push_back(nullptr);
  const std::string sql = "INSERT INTO " + name + " VALUES(" + values + ")";
  if (status_.ok() && sqlite3_prepare_v2(database_, sql.c_str(), -1, &inserts_.back(), nullptr) != SQLITE_OK) Fail();
  return inserts_.size() - 1;
}

void SqliteFile::Insert(std::size_t table, const std::vector<SqlValue>& row) {
  if (!status_.ok()) return;
  sqlite3_stmt* insert = inserts_[table];
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

absl::Status SqliteFile::Finish() {
  Execute("COMMIT");
  for (sqlite3_stmt* insert : inserts_) sqlite3_finalize(insert);
  inserts_.clear();
  if (status_.ok() && sqlite3_close(database_) != SQLITE_OK) Fail();
  if (status_.ok()) database_ = nullptr;
  return status_;
}

}  // namespace memoir
