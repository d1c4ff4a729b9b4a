// The memory events of a step that repeats (StretchDef in capture.proto).
#ifndef TRACKER_WRITER_PATTERNS_STEP_PATTERN_H_
#define TRACKER_WRITER_PATTERNS_STEP_PATTERN_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tracker/writer/events/event_kinds.h"

namespace memoir {

inline constexpr std::size_t kMostPatternEvents = 1u << 16;

// An event of a pattern. Fields that this kind of event does not have are 0.
struct PatternEvent {
  EventKind kind = EventKind::kUnknown;
  std::uint32_t thread = 0;
  std::uint32_t stack = 0;
  std::uint32_t device = 0;
  std::uint32_t pool_graph = 0;
  std::uint32_t pool_user = 0;
  std::uint32_t of_host = 0;      // as in StretchDef, see below
  std::uint32_t freed_event = 0;  // for a free of a host block: index of the block's allocation in its step
  std::uint64_t address = 0;      // only on devices with a caching allocator; else 0
  std::uint64_t bytes = 0;
  std::uint64_t requested = 0;
  std::uint64_t stream = 0;
  bool operator==(const PatternEvent&) const = default;
};

// Values of StretchDef.of_host. kOfDevice: the event has an address. kOfHost: the event is about host memory, and has
// no address. For a free of host memory whose allocation is known, the value is kAllocatedInStep plus the number of
// steps since the allocation.
inline constexpr std::uint32_t kOfDevice = 0, kOfHost = 1, kAllocatedInStep = 2;

// The pattern of a step that occurred at least twice.
struct StepPattern {
  std::uint32_t id = 0;
  std::uint32_t part = 0;      // part in which the pattern was last defined
  std::uint32_t follower = 0;  // id of the pattern that followed the last time; 0: none
  std::uint64_t used = 0;      // number of the newest step with this pattern
  std::vector<PatternEvent> events;
  std::vector<std::uint64_t> hashes;  // for each event: hash of all events up to and including it
  std::vector<std::uint64_t> ticks;   // for each event: ticks since the first event
};

// Returns the hash of a sequence of events that ends with `event`. `before` is the hash of the earlier events; 0 if
// `event` is the first.
std::uint64_t HashOfEvents(std::uint64_t before, const PatternEvent& event);

// Appends the StretchDef of the pattern to a Payload.
void AddStepPattern(const StepPattern& pattern, std::string* payload);

}  // namespace memoir

#endif  // TRACKER_WRITER_PATTERNS_STEP_PATTERN_H_
