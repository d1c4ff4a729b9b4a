// The addresses and serials of a chunk's repeated memory events. Rows are gone through once, before any is shown, so
// that a block has the same address from its first event on.
#ifndef TOOLS_MODEL_REPEAT_PLACES_H_
#define TOOLS_MODEL_REPEAT_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "tools/read/stretch.h"

namespace memoir {

// Where host blocks are shown whose addresses no row gives, for they come and go in their chunk: from here on. No other
// block lives there at the time.
inline constexpr std::uint64_t kFirstUnknownAddress = std::uint64_t{1} << 63;

// Which block of a row: the event that allocates it, of the chunk's n-th step.
inline std::uint64_t BlockOfRow(std::uint64_t step, std::uint32_t event) {
  return kFirstUnknownAddress + (step << 24 & (kFirstUnknownAddress - 1)) + event;
}

// Whether an event of a stretch takes a place: all but those of steps and stacks.
inline bool IsOfMemory(const StretchEvent& event) { return event.kind != v1::STEP && event.kind != v1::STACK; }

struct RepeatPlace {
  std::uint64_t address = 0;  // of the host's
  std::uint64_t serial = 0;
};

// A host block that lives, and the address at which it is shown.
struct LivingBlock {
  std::uint64_t block = 0;  // BlockOfRow
  std::uint64_t address = 0;
  std::uint32_t device = 0;
};

// By the chunk's rows; nullptr: an address row.
using StretchesOfRows = std::vector<std::shared_ptr<const Stretch>>;

// The events of a row.
inline absl::Span<const StretchEvent> EventsOf(const RepeatRow& row, const Stretch& stretch) {
  return absl::MakeConstSpan(stretch.events).subspan(row.first_event, row.events);
}

class RepeatPlaces {
 public:
  RepeatPlaces(const Repeats& repeats, const StretchesOfRows& stretches, std::vector<RepeatPlace>* placed)
      : repeats_(repeats), stretches_(stretches), placed_(*placed) {}

  void TakeRow(std::size_t row);
  // The blocks of rows that live, in the order of their allocations.
  void TakeAddressRow(std::uint32_t count);
  // All columns are used up.
  bool fits() const;

  // How many host addresses rows took: of blocks from before.
  std::size_t addresses_taken() const { return next_address_; }
  // A hash of which blocks of rows live, by how many steps before `step` they were allocated: where it is the same
  // behind two rows, rows that are alike do the same from there on.
  std::uint64_t HashOfLiving(std::uint64_t step) const;
  std::vector<LivingBlock> Living() const;

  std::size_t living() const { return living_.size(); }
  // The next of so many rows before which a device has had no other events.
  std::size_t RowsInStep(std::size_t first_row, std::size_t rows) const;
  // Passes over rows in step, of so many steps, that leave behind what was before them. Returns the serials before them
  // of the devices in them.
  absl::flat_hash_map<std::uint32_t, std::uint64_t> PassOver(std::size_t first_row, std::size_t rows,
                                                             std::uint64_t steps);

 private:
  struct Place {
    std::size_t index = 0;  // in placed_
    std::uint64_t address = 0;
    std::uint32_t device = 0;
  };
  void Allocate(std::uint64_t block, std::uint32_t device);
  std::uint64_t Freed(const StretchEvent& event, std::uint64_t step);
  std::uint64_t NextSerial(std::uint32_t device);
  std::uint64_t NextAddress();
  std::uint64_t NextLivingSerial();

  const Repeats& repeats_;
  const StretchesOfRows& stretches_;
  std::vector<RepeatPlace>& placed_;
  std::size_t next_address_ = 0, next_living_serial_ = 0, next_serial_ = 0;
  bool fits_ = true;
  absl::flat_hash_map<std::uint64_t, Place> living_;  // by BlockOfRow
  std::vector<std::uint64_t> allocations_;            // BlockOfRow
  absl::flat_hash_map<std::uint32_t, std::uint64_t> serials_;
  std::vector<std::uint32_t> devices_in_row_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPEAT_PLACES_H_
