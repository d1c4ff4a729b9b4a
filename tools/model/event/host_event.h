// The event of a host reading: numbers about the memory of the recorded process, its control group and its machine
// (docs/event_schema.md, "host reading").
#ifndef TOOLS_MODEL_EVENT_HOST_EVENT_H_
#define TOOLS_MODEL_EVENT_HOST_EVENT_H_

#include <cstdint>
#include <optional>

#include "memoir/v1/capture.pb.h"
#include "tools/model/event/event_base.h"

namespace memoir {

// v1::HostReading defines the numbers. A number is empty if the system does not report it.
struct HostNumbers {
  std::optional<std::uint64_t> anonymous_bytes;
  std::optional<std::uint64_t> shared_bytes;
  std::optional<std::uint64_t> file_bytes;
  std::optional<std::uint64_t> swap_bytes;
  std::optional<std::uint64_t> proportional_bytes;
  std::optional<std::uint64_t> malloc_used_bytes;
  std::optional<std::uint64_t> malloc_free_bytes;
  std::optional<std::uint64_t> children;
  std::optional<std::uint64_t> children_bytes;
  std::optional<std::uint64_t> group_id;
  std::optional<std::uint64_t> group_used_bytes;
  std::optional<std::uint64_t> group_limit_bytes;
  std::optional<std::uint64_t> group_reclaimable_bytes;
  std::optional<std::uint64_t> group_shared_bytes;
  std::optional<std::uint64_t> group_kills;
  std::optional<std::uint64_t> machine_bytes;
  std::optional<std::uint64_t> machine_available_bytes;
  std::optional<std::uint64_t> machine_kills;

  // Returns the resident bytes. Empty if one of the three summands is unknown.
  std::optional<std::uint64_t> resident_bytes() const {
    if (!anonymous_bytes || !shared_bytes || !file_bytes) return std::nullopt;
    return *anonymous_bytes + *shared_bytes + *file_bytes;
  }
};

struct HostReadingEvent : Event {
  v1::ReadingCause cause = v1::READING_CAUSE_UNKNOWN;
  HostNumbers numbers;
  bool before = false;  // true: older than the events of the replay, so the live blocks at its time are unknown
};

}  // namespace memoir

#endif  // TOOLS_MODEL_EVENT_HOST_EVENT_H_
