// Stretches of a part, and what rows of a chunk that name them stand for (docs/capture_format.md, "Stretches").
#ifndef TOOLS_MODEL_REPEATS_H_
#define TOOLS_MODEL_REPEATS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/chunk_source.h"
#include "tools/model/ids.h"
#include "tools/read/stretch.h"

namespace memoir {

// Of a part. Where a capture defines more than the recorder knows at a time, older ones are forgotten.
class StretchTable {
 public:
  void Define(const std::shared_ptr<const Stretch>& stretch);
  std::shared_ptr<const Stretch> Find(std::uint32_t id);  // nullptr: not known
  void Clear();

 private:
  static constexpr std::size_t kMostStretches = 256;  // the recorder: 16
  static constexpr std::uint64_t kMostEvents = 1u << 22;
  struct Entry {
    std::shared_ptr<const Stretch> stretch;
    std::uint64_t used = 0;
  };
  absl::flat_hash_map<std::uint32_t, Entry> entries_;
  std::uint64_t events_ = 0, uses_ = 0;
};

// Where host blocks are shown whose addresses no row gives, for they come and go in their chunk: from here on. No other
// block lives there at the time.
inline constexpr std::uint64_t kFirstUnknownAddress = std::uint64_t{1} << 63;

// The rows of one chunk, and how far they have been shown.
class RepeatCursor {
 public:
  // Rows from the first on whose stretch is not known, or that does not fit it, are left out: `damaged` says so.
  RepeatCursor(std::shared_ptr<Chunk> chunk, StretchTable& stretches);

  const Chunk& chunk() const { return *chunk_; }
  bool damaged() const { return damaged_; }
  bool done() const { return row_ == rows_.size(); }
  // Of the current event.
  const StretchEvent& event() const { return rows_[row_].stretch->events[rows_[row_].first_event + index_]; }
  Tick tick() const { return tick_; }
  std::uint64_t step_number() const { return rows_[row_].step_number; }
  // Of a memory event. `serial`: of a host block whose address is not known, or that is freed, 0.
  std::uint64_t address() const { return event().of_host == 0 ? event().address : placed_[memory_event_].address; }
  std::uint64_t serial() const { return placed_[memory_event_].serial; }
  // The stack of the event's thread before its first event in these rows; nothing where it has had one.
  std::optional<std::uint32_t> TakeStartStack();
  void Advance();

 private:
  struct Row {
    std::shared_ptr<const Stretch> stretch;
    std::uint32_t first_event = 0, events = 0;
    Tick first_tick = 0, ticks = 0;
    std::uint64_t step_number = 0;
  };
  struct Placed {
    std::uint64_t address = 0;  // of the host's
    std::uint64_t serial = 0;
  };
  class Places;
  void FindTick();

  std::shared_ptr<Chunk> chunk_;
  std::vector<Row> rows_;
  std::vector<Placed> placed_;                                      // memory events of all rows, in their order
  absl::flat_hash_map<std::uint32_t, std::uint32_t> start_stacks_;  // by thread
  bool damaged_ = false;
  std::size_t row_ = 0, index_ = 0, memory_event_ = 0;
  Tick tick_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPEATS_H_
