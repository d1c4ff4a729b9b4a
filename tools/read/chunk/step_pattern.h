// Parses step patterns (StretchDef in the file format), and the pattern rows of a chunk that refer to them (Repeats).
// The format is described in docs/capture_format.md, "Stretches".
#ifndef TOOLS_READ_CHUNK_STEP_PATTERN_H_
#define TOOLS_READ_CHUNK_STEP_PATTERN_H_

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "memoir/v1/capture.pb.h"

namespace memoir {

// A field that the event's kind lacks is 0. Thread, stack and device are ids of the part's dictionaries.
struct PatternEvent {
  v1::EventKind kind = v1::EVENT_UNKNOWN;
  std::uint32_t thread = 0;
  std::uint32_t stack = 0;
  std::uint32_t device = 0;
  std::uint32_t pool_graph = 0, pool_user = 0;
  std::uint32_t of_host = 0, freed_event = 0;  // fields of StretchDef
  std::uint64_t tick = 0;                      // since the first event
  std::uint64_t address = 0;
  std::uint64_t bytes = 0, requested_bytes = 0;
  std::uint64_t stream = 0;
};
// Values of PatternEvent::of_host. kOfHost: an event of a host block. kAllocatedInStep + n: the free of a block that
// was allocated n steps before.
inline constexpr std::uint32_t kOfHost = 1, kAllocatedInStep = 2;

struct StepPattern {
  std::uint32_t id = 0;
  std::vector<PatternEvent> events;  // only the first event may be a STEP event
  std::uint32_t steps_back = 0;  // the largest distance in steps between the allocation and the free of a host block
};

// A pattern row: consecutive events of a pattern that occurred again. If `pattern` is 0, an address row: the addresses
// of `events` blocks.
struct PatternRow {
  std::uint32_t pattern = 0;
  std::uint32_t first_event = 0;
  std::uint32_t events = 0;
  std::uint64_t first_tick = 0, ticks = 0;
  std::uint64_t step = 0;         // number of the row's step, counted within the chunk
  std::uint64_t step_number = 0;  // the program's number of the step; only if the row begins with a STEP event
};

// The limit of events that the rows of a chunk represent, several times more than the tracker writes.
inline constexpr std::uint64_t kMaxRowEvents = 1u << 22;

struct PatternRows {
  std::vector<PatternRow> rows;
  std::vector<std::uint64_t> addresses;
  std::vector<std::uint64_t> live_serials;  // serials of the blocks in address rows
  std::vector<std::int64_t> serial_deltas;
  std::uint64_t events = 0;
};

// ParseStepPattern parses an encoded StretchDef with at most `most_events` events. ParsePatternRows parses an encoded
// Repeats. An error message has the form of Damage::what.
absl::Status ParseStepPattern(std::string_view bytes, std::size_t most_events, StepPattern* pattern);
absl::Status ParsePatternRows(std::string_view bytes, PatternRows* pattern_rows);

}  // namespace memoir

#endif  // TOOLS_READ_CHUNK_STEP_PATTERN_H_
