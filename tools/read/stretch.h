// Steps whose memory events come again and again (StretchDef), and the rows of a chunk that name them (Repeats):
// docs/capture_format.md, "Stretches".
#ifndef TOOLS_READ_STRETCH_H_
#define TOOLS_READ_STRETCH_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "memoir/v1/capture.pb.h"

namespace memoir {

// What an event's kind does not have is 0. Numbers are the part's.
struct StretchEvent {
  v1::EventKind kind = v1::EVENT_UNKNOWN;
  std::uint32_t thread = 0;
  std::uint32_t stack = 0;
  std::uint32_t device = 0;
  std::uint32_t pool_graph = 0, pool_user = 0;
  std::uint32_t of_host = 0, freed_event = 0;  // as StretchDef has them
  std::uint64_t tick = 0;                      // since the first
  std::uint64_t address = 0;
  std::uint64_t bytes = 0, requested_bytes = 0;
  std::uint64_t stream = 0;
};
// StretchEvent::of_host; from kAllocatedInStep on with the number of steps since.
inline constexpr std::uint32_t kOfHost = 1, kAllocatedInStep = 2;

struct Stretch {
  std::uint32_t id = 0;
  std::vector<StretchEvent> events;  // the first is a step's, and no other
  std::uint32_t steps_back = 0;      // the most, from a host block's free to its allocation
};

// Events of a stretch that came again, or, with stretch 0, an address row, of so many blocks.
struct RepeatRow {
  std::uint32_t stretch = 0;
  std::uint32_t first_event = 0;
  std::uint32_t events = 0;
  std::uint64_t first_tick = 0, ticks = 0;
  std::uint64_t step = 0;         // which of the chunk's
  std::uint64_t step_number = 0;  // of a row that begins with a step's event
};

// That the rows of a chunk may stand for; several times what the recorder writes.
inline constexpr std::uint64_t kMaxRepeatedEvents = 1u << 22;

struct Repeats {
  std::vector<RepeatRow> rows;
  std::vector<std::uint64_t> addresses;
  std::vector<std::uint64_t> living_serials;  // of those that address rows give
  std::vector<std::int64_t> serial_deltas;
  std::uint64_t events = 0;
};

// Take an encoded StretchDef of at most so many events, and an encoded Repeats. The message of an error is what
// Damage::what wants.
absl::Status ParseStretch(std::string_view bytes, std::size_t most_events, Stretch* stretch);
absl::Status ParseRepeats(std::string_view bytes, Repeats* repeats);

}  // namespace memoir

#endif  // TOOLS_READ_STRETCH_H_
