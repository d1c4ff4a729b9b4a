// A ThreadRun as it lies in a decompressed chunk: its columns are walked there.
#ifndef TOOLS_READ_RUN_H_
#define TOOLS_READ_RUN_H_

#include <cstdint>
#include <string_view>

#include "absl/status/status.h"
#include "tools/read/varint.h"

namespace memoir {

// Events of one thread that follow one another (ThreadRun), with its columns under their names there.
struct Run {
  std::uint32_t thread = 0;
  std::uint32_t start_depth = 0;
  std::uint32_t start_stack = 0;
  std::uint64_t first_record = 0;
  std::uint64_t record_count = 0;
  std::uint64_t repeated_before = 0;
  std::uint64_t first_tick = 0;
  std::string_view kind;  // one EventKind per event
#define MEMOIR_COLUMN(Name, name, field, values, absence) Column name;
#include "proto/memoir/events.def"
};

// Takes an encoded ThreadRun; that its columns match its events is for CheckRun to say.
absl::Status ParseRun(std::string_view bytes, Run* run);

// Takes a packed column. False: it is not packed as one. Some writers encode one of a single value unpacked, and a
// packed field may come in pieces; captures have neither.
bool SetColumn(const WireField& field, Column* column);

}  // namespace memoir

#endif  // TOOLS_READ_RUN_H_
