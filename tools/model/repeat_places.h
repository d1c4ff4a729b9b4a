// The addresses and serials of repeated memory events. Rows are gone through once, before any is shown, so that a block
// has the same address from its first event on.
#ifndef TOOLS_MODEL_REPEAT_PLACES_H_
#define TOOLS_MODEL_REPEAT_PLACES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "tools/model/cycle_lives.h"
#include "tools/model/joined_rows.h"
#include "tools/model/repeat_serials.h"
#include "tools/read/stretch.h"

namespace memoir {

// Where host blocks are shown that come and go in the rows, so that nobody else knows their addresses: from here on. No
// other block lives there at the time.
inline constexpr std::uint64_t kFirstUnknownAddress = std::uint64_t{1} << 63;

// Which block of a row: the event that allocates it, of the n-th step of the rows.
inline std::uint64_t BlockOfRow(std::uint64_t step, std::uint32_t event) {
  return kFirstUnknownAddress + (step << 24 & (kFirstUnknownAddress - 1)) + event;
}
inline std::uint64_t StepOfBlock(std::uint64_t block) { return (block - kFirstUnknownAddress) >> 24; }
inline std::uint32_t EventOfBlock(std::uint64_t block) { return static_cast<std::uint32_t>(block & 0xffffff); }

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

class RepeatPlaces {
 public:
  RepeatPlaces(const JoinedRows& joined, std::vector<RepeatPlace>* placed)
      : joined_(joined), serials_(joined), placed_(*placed) {}

  void TakeRow(std::size_t row);
  void TakeAddressRow(std::size_t row);
  // Takes the end of a chunk, where the row is the first of the next, and no block lives that stands for one of rows
  // passed over: blocks are known by their addresses from there on.
  bool TakeEndBefore(std::size_t row);
  // Behind the last row. The first chunk that gives other than what its rows take; nothing: none.
  std::optional<std::size_t> Finish();

  // How many blocks rows freed that rows have not allocated.
  std::size_t others_freed() const { return others_freed_; }
  // A hash of which blocks of rows live that were allocated at most so many steps before `step`, by how many: where it
  // is the same behind two rows, rows that are alike and free none from before that do the same from there on.
  std::uint64_t HashOfLiving(std::uint64_t step, std::uint64_t steps_back) const;
  std::size_t living() const { return living_.size(); }
  std::uint64_t serials_compared() const { return serials_.compared(); }

  // The next of the rows before which a device has had no other events.
  std::size_t RowsInStep(std::size_t first_row, std::size_t end_row) { return serials_.RowsInStep(first_row, end_row); }
  // Of a cycle that goes on from a step: the blocks that live and that it will free.
  std::vector<LivingBlock> LivingOf(const CycleLives& lives, std::uint64_t step) const;
  // Passes over rows in step, of whole cycles that leave behind what was before them. Returns all the cycles that it
  // was given; or fewer, and has passed over none: as many as could be, for then a chunk says that other blocks live.
  std::size_t PassOver(absl::Span<const RowsOfStep> steps, const CycleLives& lives,
                       absl::flat_hash_map<std::uint32_t, std::uint64_t>* serials_before);
  // The row before which nothing can be passed over, for the last one that could not.
  std::size_t fits_from() const { return fits_from_; }

 private:
  struct Place {
    std::size_t index = 0;  // in placed_; kPassedOver: it stands for one that rows passed over have allocated
    std::uint64_t address = 0;
    std::uint32_t device = 0;
    std::optional<RepeatPlace> given;  // by the chunk that allocated it, at its end
  };
  static constexpr std::size_t kPassedOver = ~std::size_t{0};
  // Of the chunk in hand.
  struct Taken {
    std::size_t chunk = 0;
    std::size_t address = 0, living_serial = 0;
  };
  // While cycles are passed over.
  struct Passing {
    Taken taken;
    absl::flat_hash_map<std::int64_t, RepeatPlace> given;                      // by the event that allocates
    std::vector<std::pair<std::uint64_t, std::optional<RepeatPlace>>> others;  // of the chunk, not of the cycle
  };
  void Allocate(std::uint64_t block, std::uint32_t device);
  std::uint64_t Freed(const StretchEvent& event, std::uint64_t step);
  void EndChunksBefore(std::size_t row);
  void GiveAddresses(std::uint32_t count);
  void ShowGiven();
  void CheckChunk();
  void SayMisfit() { misfit_ = misfit_.value_or(taken_.chunk); }
  std::optional<std::uint64_t> NextAddress(Taken& taken) const;
  std::optional<RepeatPlace> NextLiving(Taken& taken) const;
  Passing BeginPassing(const CycleLives& lives, std::uint64_t step) const;
  std::optional<std::int64_t> TakeFrees(const CycleLives& lives, std::int64_t begin, std::int64_t end,
                                        Passing& passing) const;
  bool EndChunk(const CycleLives& lives, std::int64_t at, Passing& passing) const;
  void EndPassing(const CycleLives& lives, std::uint64_t step, std::uint64_t steps, Passing passing);

  const JoinedRows& joined_;
  RepeatSerials serials_;
  std::vector<RepeatPlace>& placed_;
  Taken taken_;
  std::optional<std::size_t> misfit_;  // chunk
  std::size_t fits_from_ = 0;
  std::size_t others_freed_ = 0;
  absl::flat_hash_map<std::uint64_t, Place> living_;  // by BlockOfRow
  std::vector<std::uint64_t> allocations_;            // BlockOfRow, of the chunk in hand
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPEAT_PLACES_H_
