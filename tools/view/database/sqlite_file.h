// Writes a new SQLite database once, from one thread: tables, then rows, then their indices.
//
// After the first error all calls do nothing, so callers need not check each row.
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
  // The file must exist and be empty.
  explicit SqliteFile(const std::string& path);
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  void CreateTable(CaptureTable table);
  // A number of 2^63 or more becomes negative, because SQLite's numbers are signed.
  void Insert(CaptureTable table, std::span<const CellValue> row);
  void AddIndices();  // call it after all rows
  absl::Status status() const { return status_; }
  absl::Status Finish();  // writes everything and closes the file

 private:
  void Fail();
  void Execute(const std::string& sql);

  sqlite3* database_ = nullptr;
  std::array<sqlite3_stmt*, kTables> inserts_{};
  absl::Status status_;
};

}  // namespace memoir

#endif  // TOOLS_VIEW_DATABASE_SQLITE_FILE_H_
