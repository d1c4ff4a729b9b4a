// Which lines, operators and modules a caching allocator's segments were taken for, at the most that was reserved.
//
// A segment is of the first block that lies in it: that the allocator had nothing free for it is why it was taken.
#ifndef TOOLS_ANALYZE_COMPARE_RESERVED_BOOK_H_
#define TOOLS_ANALYZE_COMPARE_RESERVED_BOOK_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "tools/analyze/grouping/grouping.h"
#include "tools/model/event.h"

namespace memoir {

// Groups of the operator, module and line, and one of ReservedPlace.
using ReservedKey = std::array<Group, 4>;
enum class ReservedPlace : Group { kDefault, kOtherStream, kGraphPool, kMemPool };
std::string ToString(ReservedPlace place);  // "", "another stream", ...
ReservedPlace PlaceOf(const Block& block);

// Of one device.
class ReservedBook {
 public:
  // A segment that grows is of `key` until a block in it says better.
  void Grow(const Block& segment, const ReservedKey& key);
  void Shrink(std::uint64_t address, std::uint64_t bytes);
  bool awaits_block() const { return !awaiting_.empty(); }
  void TakeFor(const Block& block, const ReservedKey& key);
  // After a change, inside of the window: `reserved` bytes are so by the allocator's own numbers.
  void NoteReserved(std::uint64_t reserved);

  std::uint64_t peak() const { return peak_; }
  // At the peak; may sum to less, where segments are from before the recording.
  std::map<ReservedKey, std::uint64_t> AtPeak() const;

 private:
  struct Piece {
    std::size_t taken = 0;  // in keys_
    std::uint64_t bytes = 0;
  };
  struct Change {
    std::size_t taken = 0;
    std::int64_t bytes = 0;
  };
  void Keep(std::uint64_t address, const Piece& piece);

  std::vector<ReservedKey> keys_;  // of each time that it grew
  std::map<std::uint64_t, Piece> pieces_;
  std::vector<Change> changes_;
  std::vector<std::pair<Block, std::size_t>> awaiting_;
  std::size_t changes_at_peak_ = 0;
  std::uint64_t peak_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_RESERVED_BOOK_H_
