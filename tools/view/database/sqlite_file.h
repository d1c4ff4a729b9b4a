// A new SQLite database that is written once, from one thread: tables, then rows, then their indices.
//
// The first error stays, and everything after it does nothing, so that who fills tables need not look at each row.
#ifndef TOOLS_VIEW_DATABASE_SQLITE_FILE_H_
#define TOOLS_VIEW_DATABASE_SQLITE_FILE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/status.h"

struct sqlite3;
struct sqlite3_stmt;

namespace memoir {

// NULL, a number, or a text, which is copied. What a number has beyond 2^63 - 1 turns it negative, as SQLite's are
// signed.
using SqlValue = std::variant<std::monostate, std::uint64_t, std::string_view>;
template <class Number>
SqlValue SqlOptional(const std::optional<Number>& number) {
  return number ? SqlValue(static_cast<std::uint64_t>(*number)) : SqlValue();
}
// NULL of an empty text.
inline SqlValue SqlText(std::string_view text) { return text.empty() ? SqlValue() : SqlValue(text); }

class SqliteFile {
 public:
  // The file is there, and empty.
  explicit SqliteFile(const std::string& path);
  ~SqliteFile();
  SqliteFile(const SqliteFile&) = delete;
  SqliteFile& operator=(const SqliteFile&) = delete;

  void Execute(const std::string& sql);
  // Small numbers from 0: a table made by "CREATE TABLE name(columns)", which Insert takes rows for.
  std::size_t CreateTable(const std::string& name, const std::string& columns);
  void Insert(std::size_t table, const std::vector<SqlValue>& row);  // as many values as it has columns
  absl::Status status() const { return status_; }
  absl::Status Finish();  // writes all and closes

 private:
  void Fail();

  sqlite3* database_ = nullptr;
  std::vector<sqlite3_stmt*> inserts_;
  absl::Status status_;
};

}  // namespace memoir

#endif  // TOOLS_VIEW_DATABASE_SQLITE_FILE_H_
