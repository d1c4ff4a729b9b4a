// Writes one table as a Parquet file, row by row, and passes the bytes of one row group (kRowsPerGroup rows) at a time
// to `write`, in the order of the file.
//
// Texts are encoded with a dictionary for each group, numbers plainly; both are compressed with Zstandard. Each group
// contains the minimum and maximum of its numbers, so readers can skip groups. Nested columns, encryption and page
// indices are not supported (docs/decisions/0024-a-parquet-writer.md).
//
// A group of twenty columns needs about 10 MiB of memory. One thread. The first error is kept, and Finish returns it.
#ifndef TOOLS_VIEW_DATABASE_PARQUET_FILE_H_
#define TOOLS_VIEW_DATABASE_PARQUET_FILE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "tools/view/database/table_sink.h"

namespace memoir {

class ParquetFile {
 public:
  static constexpr std::size_t kRowsPerGroup = 65536;
  static constexpr std::size_t kTextBytesPerGroup = std::size_t{16} << 20;  // more text begins a new group

  // If `write` returns false, it is not called again. `columns` must outlive the object.
  ParquetFile(std::span<const TableColumn> columns, std::function<bool(std::string_view)> write);
  ~ParquetFile();
  ParquetFile(const ParquetFile&) = delete;
  ParquetFile& operator=(const ParquetFile&) = delete;

  void Insert(std::span<const CellValue> row);
  absl::Status Finish();  // writes the remaining rows; without it the file is incomplete
  bool ok() const;

 private:
  struct State;

  std::unique_ptr<State> state_;
  absl::Status status_;
};

}  // namespace memoir

#endif  // TOOLS_VIEW_DATABASE_PARQUET_FILE_H_
