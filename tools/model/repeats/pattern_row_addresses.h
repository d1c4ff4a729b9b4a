// Assigns addresses and serials to the memory events of pattern rows. The recorded address of a block may be in a later
// row than its allocation. Therefore this class takes many rows before a replay visits the first of them. So the events
// of a block have the same address from its allocation to its free.
#ifndef TOOLS_MODEL_REPEATS_PATTERN_ROW_ADDRESSES_H_
#define TOOLS_MODEL_REPEATS_PATTERN_ROW_ADDRESSES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "tools/model/repeats/joined_pattern_rows.h"
#include "tools/model/repeats/pattern_row_serials.h"
#include "tools/model/repeats/repeat_group_lifetimes.h"
#include "tools/read/chunk/step_pattern.h"

namespace memoir {

// The smallest invented address. A host block has an invented address if it is allocated and freed in rows and its
// address is unknown. No other block has such a large address.
inline constexpr std::uint64_t kFirstUnknownAddress = std::uint64_t{1} << 63;

// Returns the id of the block that event `event` of step `step` allocates in a row. Both numbers begin at 0, and steps
// are counted over all rows. The id is also the invented address of the block.
inline std::uint64_t RowBlockId(std::uint64_t step, std::uint32_t event) {
  return kFirstUnknownAddress + (step << 24 & (kFirstUnknownAddress - 1)) + event;
}
inline std::uint64_t StepOfBlock(std::uint64_t block) { return (block - kFirstUnknownAddress) >> 24; }
inline std::uint32_t EventOfBlock(std::uint64_t block) { return static_cast<std::uint32_t>(block & 0xffffff); }

// Returns true if an event of a pattern has an address: all events except steps and stacks.
inline bool IsMemoryEvent(const PatternEvent& event) { return event.kind != v1::STEP && event.kind != v1::STACK; }

// The address and the serial of a memory event.
struct EventAddress {
  std::uint64_t address = 0;  // address of a host block; 0 for other blocks, whose addresses are in the pattern
  std::uint64_t serial = 0;
};

// A live host block that a row allocated, and the address that its events have when a replay visits them.
struct LiveRowBlock {
  std::uint64_t block = 0;  // id of the block (RowBlockId)
  std::uint64_t address = 0;
  std::uint32_t device = 0;
};

class PatternRowAddresses {
 public:
  PatternRowAddresses(const JoinedPatternRows& joined, std::vector<EventAddress>* addresses)
      : joined_(joined), serials_(joined), addresses_(*addresses) {}

  // Takes the next row, which must be a pattern row. Appends an entry to `addresses` for each memory event of the row.
  void TakeRow(std::size_t row);
  // Takes the next row, which must be an address row: assigns its addresses to live blocks.
  void TakeAddressRow(std::size_t row);
  // Ends the previous chunk and returns true if `row` is the first row of a chunk, and if no live block was allocated
  // in collapsed rows. Events from `row` on then refer to the live blocks by their recorded addresses. Otherwise does
  // nothing and returns false.
  bool TakeEndBefore(std::size_t row);
  // Call it last. Returns the index of the first chunk whose addresses or serials do not fit its rows; else nullopt.
  std::optional<std::size_t> Finish();

  // Returns how many frees so far freed a block that was not allocated in these rows.
  std::size_t others_freed() const { return others_freed_; }
  // Returns a hash of the live blocks that rows allocated at most `steps_back` steps before `step`. The hash contains
  // how many steps before `step` each block was allocated, so the hashes of two steps can be compared. If they are
  // equal, equal rows after the two steps have the same effect, unless these rows free older blocks.
  std::uint64_t HashLiveBlocks(std::uint64_t step, std::uint64_t steps_back) const;
  std::size_t live_count() const { return live_blocks_.size(); }
  std::uint64_t serials_compared() const { return serials_.compared(); }  // returns PatternRowSerials::compared

  // Counts the rows from `first_row` on, and stops at `end_row`. Also stops at a row if one of its devices had an event
  // outside of pattern rows directly before this row (PatternRowSerials::CountUninterruptedRows).
  std::size_t CountUninterruptedRows(std::size_t first_row, std::size_t end_row) {
    return serials_.CountUninterruptedRows(first_row, end_row);
  }
  // Returns the live blocks that the group beginning with `step`, or a later repeat of it, frees.
  std::vector<LiveRowBlock> LiveBlocksOf(const RepeatGroupLifetimes& lifetimes, std::uint64_t step) const;
  // Collapses the rows of `steps`. The steps must be whole groups that each leave the same live blocks. Returns the
  // number of groups. If the addresses that a chunk recorded contradict the groups, collapses nothing and returns the
  // number of groups before the contradiction. `serials_before`: the next serial of each device before the rows.
  std::size_t Collapse(absl::Span<const StepRows> steps, const RepeatGroupLifetimes& lifetimes,
                       absl::flat_hash_map<std::uint32_t, std::uint64_t>* serials_before);
  // The first row at which collapsed steps may begin. A failed Collapse moves this row forward.
  std::size_t first_collapsible_row() const { return first_collapsible_row_; }

 private:
  struct LiveRowBlockState {
    std::size_t index = 0;  // in addresses_; kCollapsed if it represents a block that collapsed rows allocated
    std::uint64_t address = 0;
    std::uint32_t device = 0;
    std::optional<EventAddress> given;  // the recorded address; set when the chunk that allocated the block ends
  };
  static constexpr std::size_t kCollapsed = ~std::size_t{0};
  // The position in the address and serial columns of a chunk.
  struct ChunkCursor {
    std::size_t chunk = 0;
    std::size_t address = 0, live_serial = 0;
  };
  struct CollapseState {
    ChunkCursor cursor;
    absl::flat_hash_map<std::int64_t, EventAddress> given;  // recorded addresses, by the allocating event
    // Live blocks that the group does not free, and that had no recorded address when the collapse began. The second
    // value is the address that a chunk has recorded since.
    std::vector<std::pair<std::uint64_t, std::optional<EventAddress>>> others;
  };
  void Allocate(std::uint64_t block, std::uint32_t device);
  std::uint64_t TakeFree(const PatternEvent& event, std::uint64_t step);
  // Moves to the chunk that contains `row`, and assigns the addresses at the end of each chunk in between.
  void EndChunksBefore(std::size_t row);
  // Assigns the next recorded addresses to the live blocks in allocations_. `count`: number of these addresses.
  void GiveAddresses(std::uint32_t count);
  void ShowGiven();
  void CheckChunk();  // notes a misfit if the rows of the chunk did not use all of its addresses
  void NoteMisfit() { misfit_ = misfit_.value_or(chunk_cursor_.chunk); }
  std::optional<std::uint64_t> NextAddress(ChunkCursor& cursor) const;
  std::optional<EventAddress> NextLiveAddress(ChunkCursor& cursor) const;
  CollapseState BeginCollapse(const RepeatGroupLifetimes& lifetimes, std::uint64_t step) const;
  std::optional<std::int64_t> TakeFrees(const RepeatGroupLifetimes& lifetimes, std::int64_t begin, std::int64_t end,
                                        CollapseState& state) const;
  bool EndChunk(const RepeatGroupLifetimes& lifetimes, std::int64_t at, CollapseState& state) const;
  void EndCollapse(const RepeatGroupLifetimes& lifetimes, std::uint64_t step, std::uint64_t steps, CollapseState state);

  const JoinedPatternRows& joined_;
  PatternRowSerials serials_;
  std::vector<EventAddress>& addresses_;
  ChunkCursor chunk_cursor_;
  std::optional<std::size_t> misfit_;  // index of the first chunk that does not fit
  std::size_t first_collapsible_row_ = 0;
  std::size_t others_freed_ = 0;
  absl::flat_hash_map<std::uint64_t, LiveRowBlockState> live_blocks_;  // by RowBlockId
  std::vector<std::uint64_t> allocations_;                             // RowBlockIds of the current chunk's allocations
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPEATS_PATTERN_ROW_ADDRESSES_H_
