// Reads the JSON of a torch.profiler trace event by event: the fields about memory and about the code that ran.
#ifndef TOOLS_IMPORT_TRACE_KINETO_JSON_H_
#define TOOLS_IMPORT_TRACE_KINETO_JSON_H_

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "tools/import/files/byte_source.h"

namespace memoir {

// The fields of one event. Missing fields keep these values.
struct KinetoEvent {
  static constexpr std::int64_t kUnknown = -1;
  char phase = 0;
  std::string category, name, given_name;  // given_name: args.name
  std::int64_t pid = 0, thread = 0;
  double us = std::numeric_limits<double>::quiet_NaN(), duration = 0;
  // Fields of `args`.
  std::int64_t device_type = 0, device = 0, bytes = 0, total_allocated = kUnknown, reserved = kUnknown;
  std::int64_t sequence = kUnknown, forward_thread = 0;
  std::uint64_t address = 0;
  bool has_bytes = false;  // true: the event has `bytes`, and they are an integer
};

// The fields of the whole trace.
struct KinetoHead {
  std::int64_t base_ns = 0;  // time of the clock's 0, since 1970
  std::optional<std::uint32_t> rank;
  std::uint32_t world_size = 0;
  absl::flat_hash_map<std::int64_t, std::string> products;  // names of GPUs, by number
};

class KinetoVisitor {
 public:
  virtual ~KinetoVisitor() = default;
  // If not OK, ReadKinetoJson() stops and returns this status.
  virtual absl::Status OnEvent(const KinetoEvent& event) = 0;
};

// Returns the name, cut at a character boundary if it is too long.
std::string_view ShortenedName(std::string_view name);

// Reads the trace. Returns InvalidArgument for another kind of file, which the message names. Returns DataLoss for a
// damaged file; the message contains the offset. If the visitor returns an error, returns this error.
absl::Status ReadKinetoJson(ByteSource& source, KinetoVisitor& visitor, KinetoHead& head);

}  // namespace memoir

#endif  // TOOLS_IMPORT_TRACE_KINETO_JSON_H_
