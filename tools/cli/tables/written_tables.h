// Tables on their way into files, each as Arrow or Parquet.
#ifndef TOOLS_CLI_TABLES_WRITTEN_TABLES_H_
#define TOOLS_CLI_TABLES_WRITTEN_TABLES_H_

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "tools/view/database/table_sink.h"

namespace memoir {

class WrittenTables {
 public:
  WrittenTables();
  ~WrittenTables();  // of files that were not finished nothing stays
  WrittenTables(const WrittenTables&) = delete;
  WrittenTables& operator=(const WrittenTables&) = delete;

  // `what`: "arrow" or "parquet"; `path` "": standard output.
  void Add(Table table, std::string_view what, const std::string& path);
  bool has(Table table) const { return wanted_.has(table); }
  void Insert(Table table, std::span<const CellValue> row);  // of a table that was added
  TableSink Sink();                                          // into these
  bool ok() const;                                           // false: what comes is in vain
  absl::Status Finish();                                     // the error says what to do

  // Of finished ones, by the table's name.
  const std::map<std::string, std::uint64_t>& file_bytes() const { return file_bytes_; }

 private:
  class Written;
  std::unique_ptr<Written>& At(Table table);

  std::array<std::unique_ptr<Written>, kTables> tables_;
  TableSet wanted_;
  std::map<std::string, std::uint64_t> file_bytes_;
};

}  // namespace memoir

#endif  // TOOLS_CLI_TABLES_WRITTEN_TABLES_H_
