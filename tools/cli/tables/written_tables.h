// Tables that are being written to files, each as Arrow or Parquet.
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
  ~WrittenTables();  // removes unfinished files
  WrittenTables(const WrittenTables&) = delete;
  WrittenTables& operator=(const WrittenTables&) = delete;

  // `what`: "arrow" or "parquet"; `path` "": standard output.
  void Add(CaptureTable table, std::string_view what, const std::string& path);
  bool has(CaptureTable table) const { return wanted_.has(table); }
  void Insert(CaptureTable table, std::span<const CellValue> row);  // into an added table
  TableSink Sink();                                                 // inserts into these tables
  bool ok() const;                                           // false: an error occurred, further rows are lost
  absl::Status Finish();                                     // the error names the remedy

  // Sizes of the finished files, by the table's name.
  const std::map<std::string, std::uint64_t>& file_bytes() const { return file_bytes_; }

 private:
  class OpenTable;
  std::unique_ptr<OpenTable>& At(CaptureTable table);

  std::array<std::unique_ptr<OpenTable>, kTables> tables_;
  TableSet wanted_;
  std::map<std::string, std::uint64_t> file_bytes_;
};

}  // namespace memoir

#endif  // TOOLS_CLI_TABLES_WRITTEN_TABLES_H_
