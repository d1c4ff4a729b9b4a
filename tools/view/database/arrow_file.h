// One table as Arrow IPC, written row by row and handed on batch by batch: as a file (what readers map into memory), or
// as a stream (what goes through a pipe).
//
// A batch takes at most some 30 MiB while it is filled. One thread. The first error stays, as in TableSink.
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
  static constexpr std::size_t kTextBytesPerBatch = std::size_t{16} << 20;  // what is beyond begins another batch

  // `write` may refuse (false): then nothing more comes. `columns` stay the caller's.
  ArrowFile(std::span<const Column> columns, Form form, std::function<bool(std::string_view)> write);
  ~ArrowFile();
  ArrowFile(const ArrowFile&) = delete;
  ArrowFile& operator=(const ArrowFile&) = delete;

  void Insert(std::span<const CellValue> row);
  absl::Status Finish();  // writes what is left; without it the file is not whole
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
