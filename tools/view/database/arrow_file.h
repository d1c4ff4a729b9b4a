// Writes one table as Arrow IPC, row by row, and passes the bytes to `write` batch by batch. The form is a file, which
// readers map into memory, or a stream, which can go through a pipe.
//
// A batch needs up to about 30 MiB of memory. One thread. The first error is kept, and Finish returns it.
#ifndef TOOLS_VIEW_DATABASE_ARROW_FILE_H_
#define TOOLS_VIEW_DATABASE_ARROW_FILE_H_

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "absl/status/status.h"
#include "tools/view/database/table_sink.h"

namespace memoir {

class ArrowFile {
 public:
  enum class Form : std::uint8_t { kFile, kStream };
  static constexpr std::int64_t kRowsPerBatch = 65536;
  static constexpr std::size_t kTextBytesPerBatch = std::size_t{16} << 20;  // more text begins a new batch

  // If `write` returns false, it is not called again. `columns` must outlive the object.
  ArrowFile(std::span<const TableColumn> columns, Form form, std::function<bool(std::string_view)> write);
  ~ArrowFile();
  ArrowFile(const ArrowFile&) = delete;
  ArrowFile& operator=(const ArrowFile&) = delete;

  void Insert(std::span<const CellValue> row);
  absl::Status Finish();  // writes the remaining rows; without it the file is incomplete
  bool ok() const { return status_.ok(); }

 private:
  struct State;

  void Check(int error);
  void WriteBatch();

  std::unique_ptr<State> state_;
  absl::Status status_;
};

}  // namespace memoir

#endif  // TOOLS_VIEW_DATABASE_ARROW_FILE_H_
