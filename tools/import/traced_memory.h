// One device's memory events in a profiler's trace, with what must be added so that their sums are the totals that the
// profiler says beside each of them.
//
// The profiler sees the threads that it was told of, from its start on. Its totals are of all. What the totals have
// besides is here in pieces, at addresses that no block can have:
//
//     total  ^        ____        what the trace allocates
//            |   ____|    |___
//            |  | piece: not traced
//            |__|______________
//            |  found: freed in the trace, or part of what was there before it
#ifndef TOOLS_IMPORT_TRACED_MEMORY_H_
#define TOOLS_IMPORT_TRACED_MEMORY_H_

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/import/profiler_trace.h"

namespace memoir {

class TracedMemory {
 public:
  struct Piece {
    std::uint64_t address = 0, bytes = 0;
  };
  // What happens at an event besides: first what `ended`, then what `began`.
  struct Besides {
    std::vector<Piece> ended, began;
    bool ends_block = false;  // of an allocation: the block that lived there was freed, and nobody said so
    bool is_unknown = false;  // of a free: of no block that is known; the pieces have it
  };

  // Goes through the events of `device`. The trace must outlive it.
  TracedMemory(const ProfilerTrace& trace, ProfilerTrace::Number device);

  const std::vector<Piece>& found() const { return found_; }  // live before the first event
  // Of ProfilerTrace::memory; nullptr: nothing.
  const Besides* At(std::size_t event) const;
  std::uint64_t at_end() const { return sum_; }
  // How often the totals changed without an event, and by how much in all.
  std::uint64_t untraced() const { return untraced_; }
  std::uint64_t untraced_bytes() const { return untraced_bytes_; }

 private:
  struct Part {
    std::size_t whole = 0;  // of wholes_
    Piece piece;
  };
  // A piece as it began, and where it is cut because its parts end apart.
  struct Whole {
    Piece piece;
    std::size_t event = 0;
    std::vector<std::uint64_t> cuts;
  };
  static constexpr std::size_t kBefore = ~std::size_t{0};

  void Find(std::uint64_t base);
  void Follow(std::size_t event);
  void Begin(std::size_t event, std::uint64_t bytes);
  void End(std::size_t event, std::uint64_t bytes);
  void EndBlocks(std::size_t event, std::uint64_t bytes);
  void Add(std::uint64_t address, std::uint64_t bytes);
  std::uint64_t Remove(std::uint64_t address);
  void CutWholes();

  const std::vector<ProfilerTrace::Memory>& events_;
  const ProfilerTrace::Number device_;
  std::vector<Piece> found_;
  absl::flat_hash_map<std::size_t, Besides> besides_;
  std::uint64_t sum_ = 0, untraced_ = 0, untraced_bytes_ = 0;
  // While it follows.
  absl::flat_hash_map<std::uint64_t, std::uint64_t> live_;  // bytes by address
  std::set<std::pair<std::uint64_t, std::uint64_t>> by_size_;
  std::vector<Whole> wholes_;
  std::vector<Part> parts_;  // the newest is the first to end
};

}  // namespace memoir

#endif  // TOOLS_IMPORT_TRACED_MEMORY_H_
