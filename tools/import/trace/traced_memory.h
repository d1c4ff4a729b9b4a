// The memory events of one device in a profiler trace, with additional blocks that make their sums equal to the totals
// in the trace.
//
// The profiler sees only some threads, and only from its start on, but its totals contain all memory. Additional
// blocks, called pieces, represent the memory that it does not see. Pieces have addresses that no real block can have:
//
//     total  ^        ____        allocated in the trace
//            |   ____|    |___
//            |  | piece: not traced
//            |__|______________
//            |  found: freed in the trace, or part of the earlier memory
#ifndef TOOLS_IMPORT_TRACE_TRACED_MEMORY_H_
#define TOOLS_IMPORT_TRACE_TRACED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/import/trace/profiler_trace.h"

namespace memoir {

class TracedMemory {
 public:
  struct AddressRange {
    std::uint64_t address = 0, bytes = 0;
  };
  // Blocks to add at an event: first the blocks in `ended` end, then those in `began` begin.
  struct ImpliedBlocks {
    std::vector<AddressRange> ended, began;
    bool ends_block = false;  // the allocation also ends the block at its address, whose free is missing
    bool is_unknown = false;  // the freed block is unknown, and pieces represent it
  };

  // Processes the events of `device`. The trace must outlive this object.
  TracedMemory(const ProfilerTrace& trace, ProfilerTrace::Index device);

  const std::vector<AddressRange>& initial_blocks() const { return initial_blocks_; }  // live before the first event
  // Returns the blocks to add at an event of ProfilerTrace::memory. nullptr if there are no blocks.
  const ImpliedBlocks* ImpliedAt(std::size_t event) const;
  std::uint64_t at_end() const { return sum_; }  // live bytes at the end of the trace
  // The number of changes of the totals without an event, and the sum of these changes in bytes.
  std::uint64_t untraced() const { return untraced_; }
  std::uint64_t untraced_bytes() const { return untraced_bytes_; }

 private:
  struct RemainingPart {
    std::size_t whole = 0;  // index in wholes_
    AddressRange piece;
  };
  // A piece as it begins, and the addresses that divide it into parts which end at different times.
  struct WholeRange {
    AddressRange piece;
    std::size_t event = 0;
    std::vector<std::uint64_t> cuts;
  };
  static constexpr std::size_t kBefore = ~std::size_t{0};

  void FindInitialBlocks(std::uint64_t base);
  void ApplyEvent(std::size_t event);
  void Begin(std::size_t event, std::uint64_t bytes);
  void End(std::size_t event, std::uint64_t bytes);
  void EndBlocks(std::size_t event, std::uint64_t bytes);
  void Add(std::uint64_t address, std::uint64_t bytes);
  std::uint64_t Remove(std::uint64_t address);
  void CutWholes();

  const std::vector<ProfilerTrace::MemoryEvent>& events_;
  const ProfilerTrace::Index device_;
  std::vector<AddressRange> initial_blocks_;
  absl::flat_hash_map<std::size_t, ImpliedBlocks> implied_blocks_;
  std::uint64_t sum_ = 0, untraced_ = 0, untraced_bytes_ = 0;
  // The state during processing.
  absl::flat_hash_map<std::uint64_t, std::uint64_t> live_;  // bytes by address
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;
  std::vector<WholeRange> wholes_;
  std::vector<RemainingPart> parts_;  // the newest part ends first
};

}  // namespace memoir

#endif  // TOOLS_IMPORT_TRACE_TRACED_MEMORY_H_
