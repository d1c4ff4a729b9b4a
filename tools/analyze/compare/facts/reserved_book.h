// The lines, operators and modules for which a caching allocator reserved segments, at the peak of reserved bytes.
//
// A segment belongs to the first block that is allocated in it: the allocator reserved the segment because it had no
// free memory for this block.
#ifndef TOOLS_ANALYZE_COMPARE_FACTS_RESERVED_BOOK_H_
#define TOOLS_ANALYZE_COMPARE_FACTS_RESERVED_BOOK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/analyze/grouping/grouping.h"
#include "tools/model/event/event.h"

namespace memoir {

// The groups of an operator, a module and a line, and a ReservedPlace.
using ReservedKey = std::array<Group, 4>;
enum class ReservedPlace : Group { kDefault, kOtherStream, kGraphPool, kMemPool };
std::string ToString(ReservedPlace place);  // "", "another stream", ...
ReservedPlace PlaceOf(const Block& block);

// The segments of one device.
class ReservedBook {
 public:
  // Adds a reserved segment. The segment belongs to `key` until TakeFor() is called with the first block in it.
  void Grow(const Block& segment, const ReservedKey& key);
  // Removes memory that was freed or unmapped: a segment, or a part of it.
  void Shrink(std::uint64_t address, std::uint64_t bytes);
  bool awaits_block() const { return !awaiting_.empty(); }
  // Assigns to `key` the segments in which `block` is the first block.
  void TakeFor(const Block& block, const ReservedKey& key);
  // Notes the reserved bytes of the device. Called at the beginning of the selection, and after each change inside it.
  void NoteReserved(std::uint64_t reserved);

  std::uint64_t peak() const { return peak_; }
  // Returns the reserved bytes by key at the peak. Their sum is smaller than peak() if some segments were reserved
  // before the recording.
  std::map<ReservedKey, std::uint64_t> AtPeak() const;

 private:
  struct Piece {
    std::size_t taken = 0;  // index in keys_
    std::uint64_t bytes = 0;
  };
  struct Change {
    std::size_t taken = 0;
    std::int64_t bytes = 0;
  };
  void Keep(std::uint64_t address, const Piece& piece);

  std::vector<ReservedKey> keys_;          // one key for each added segment
  std::map<std::uint64_t, Piece> pieces_;  // by address
  std::vector<Change> changes_;            // in the order of time
  // Segments in which no block has been allocated yet, and their indices in keys_.
  std::vector<std::pair<Block, std::size_t>> awaiting_;
  std::size_t changes_at_peak_ = 0;  // size of changes_ when the peak was reached
  std::uint64_t peak_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_FACTS_RESERVED_BOOK_H_
