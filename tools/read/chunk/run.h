// A ThreadRun of a decompressed chunk, whose columns are read in place.
#ifndef TOOLS_READ_CHUNK_RUN_H_
#define TOOLS_READ_CHUNK_RUN_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "tools/read/chunk/varint.h"

namespace memoir {

// Consecutive events of one thread (ThreadRun). The columns have the same names as in ThreadRun.
struct Run {
  std::uint32_t thread = 0;
  std::uint32_t start_depth = 0;
  std::uint32_t start_stack = 0;
  std::uint64_t first_record = 0;
  std::uint64_t record_count = 0;
  std::uint64_t repeated_before = 0;
  std::uint64_t first_tick = 0;
  std::string_view kind;  // one EventKind per event
  using AlwaysColumn = Column;
  using ZerosLeftOutColumn = ZeroableColumn;
#define MEMOIR_COLUMN(Name, name, field, values, absence) absence##Column name;
#include "proto/memoir/events.def"
};

// Parses an encoded ThreadRun. CheckRun verifies that its columns match its events.
absl::Status ParseRun(std::string_view bytes, Run* run);

// Sets `column` to the values in `field`. Returns false if they are not packed in one piece. Protobuf would allow
// several pieces and unpacked values, but captures have neither.
bool SetColumn(const WireField& field, PackedVarints* column);

}  // namespace memoir

#endif  // TOOLS_READ_CHUNK_RUN_H_
