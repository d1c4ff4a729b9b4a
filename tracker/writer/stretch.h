// The memory events of a step that comes again and again (StretchDef of the capture).
#ifndef TRACKER_WRITER_STRETCH_H_
#define TRACKER_WRITER_STRETCH_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tracker/writer/capture_fields.h"

namespace memoir {

inline constexpr std::size_t kMostStretchEvents = 1u << 16;

// What an event's kind does not have is 0.
struct RepeatableEvent {
  EventKind kind = EventKind::kUnknown;
  std::uint32_t thread = 0;
  std::uint32_t stack = 0;
  std::uint32_t device = 0;
  std::uint32_t pool_graph = 0;
  std::uint32_t pool_user = 0;
  std::uint32_t of_host = 0;      // as StretchDef has it
  std::uint32_t freed_event = 0;  // likewise
  std::uint64_t address = 0;      // on a device with a caching allocator
  std::uint64_t bytes = 0;
  std::uint64_t requested = 0;
  std::uint64_t stream = 0;
  bool operator==(const RepeatableEvent&) const = default;
};

// StretchDef.of_host; from kAllocatedInStep on with the number of steps since.
inline constexpr std::uint32_t kOfDevice = 0, kOfHost = 1, kAllocatedInStep = 2;

struct KnownStretch {
  std::uint32_t id = 0;
  std::uint32_t part = 0;      // last defined in
  std::uint32_t follower = 0;  // the stretch of the step behind it, the last time; 0: none
  std::uint64_t used = 0;      // in which step
  std::vector<RepeatableEvent> events;
  std::vector<std::uint64_t> hashes;  // of all events up to each
  std::vector<std::uint64_t> ticks;   // of each, since the first
};

// Of a sequence of events: with each event from the hash of those before it, 0 before the first.
std::uint64_t HashOfEvents(std::uint64_t before, const RepeatableEvent& event);

// Appends its StretchDef to a Payload.
void AddStretch(const KnownStretch& stretch, std::string* payload);

}  // namespace memoir

#endif  // TRACKER_WRITER_STRETCH_H_
