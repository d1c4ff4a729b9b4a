// One table as a Parquet file, written row by row and handed on group by group, from its first byte to its last.
//
// Texts are written by a dictionary of each group, numbers as they are, and both as pages of Zstandard; each group
// says the least and the greatest of its numbers, by which readers pass over it. Nothing that is nested, no encryption,
// no index of pages (docs/decisions/0024-a-parquet-writer.md).
//
// A group takes some 10 MiB while it is filled, of twenty columns. One thread. The first error stays, as in TableSink.
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
  static constexpr std::size_t kTextBytesPerGroup = std::size_t{16} << 20;  // what is beyond begins another group

  // `write` may refuse (false): then nothing more comes. `columns` stay the caller's.
  ParquetFile(std::span<const Column> columns, std::function<bool(std::string_view)> write);
  ~ParquetFile();
  ParquetFile(const ParquetFile&) = delete;
  ParquetFile& operator=(const ParquetFile&) = delete;

  void Insert(std::span<const CellValue> row);
  absl::Status Finish();  // writes what is left; without it the file is not whole
  bool ok() const;

 private:
  struct State;

  std::unique_ptr<State> state_;
  absl::Status status_;
};

}  // namespace memoir

#endif  // TOOLS_VIEW_DATABASE_PARQUET_FILE_H_
