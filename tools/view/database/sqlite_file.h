// A new SQLite database that is written once, from one thread: tables, then rows, then their indices.
//
// The first error stays, and everything after it does nothing, so that who fills tables need not look at each row.
#ifndef TOOLS_VIEW_DATABASE_SQLITE_FILE_H_
#define TOOLS_VIEW_DATABASE_SQLITE_FILE_H_

#include <array>
#include <span>
#include <string>

#include "absl/status/status.h"
#include "tools/view/database/table_sink.h"

struct sqlite3;
struct sqlite3_stmt;

namespace memoir {

class SqliteFile {
 public:
  // The file is there, and empty.
  explicit SqliteFile(const std::string& path);
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  void CreateTable(Table table);
  // What a number has beyond 2^63 - 1 turns it negative, as SQLite's are signed.
  void Insert(Table table, std::span<const CellValue> row);
  void AddIndices();  // after all rows
  absl::Status status() const { return status_; }
  absl::Status Finish();  // writes all and closes

 private:
  void Fail();
  void Execute(const std::string& sql);

  sqlite3* database_ = nullptr;
  std::array<sqlite3_stmt*, kTables> inserts_{};
  absl::Status status_;
};

}  // namespace memoir

#endif  // TOOLS_VIEW_DATABASE_SQLITE_FILE_H_
