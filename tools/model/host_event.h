// What the system says of the host's memory (docs/event_schema.md).
#ifndef TOOLS_MODEL_HOST_EVENT_H_
#define TOOLS_MODEL_HOST_EVENT_H_

#include <cstdint>
#include <optional>

#include "memoir/v1/capture.pb.h"
#include "tools/model/event_base.h"

namespace memoir {

// v1::HostReading says what the numbers are. Empty: the system does not say.
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

  // Resident in all; empty where a part of it is.
  std::optional<std::uint64_t> resident_bytes() const {
    if (!anonymous_bytes || !shared_bytes || !file_bytes) return std::nullopt;
    return *anonymous_bytes + *shared_bytes + *file_bytes;
  }
};

struct HostReadingEvent : Event {
  v1::ReadingCause cause = v1::READING_CAUSE_UNKNOWN;
  HostNumbers numbers;
  bool before = false;  // from events that are gone: what was live then is not known
};

}  // namespace memoir

#endif  // TOOLS_MODEL_HOST_EVENT_H_
