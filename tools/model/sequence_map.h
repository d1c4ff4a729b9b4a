// Maps autograd sequence numbers of one thread to values, such as the forward operator with the number. Several
// operators can have the same number, because only an operator that creates an autograd node increases the number. For
// such a number, the map contains the value of the last operator.
//
// The map stores up to 2^20 numbers, more than an autograd graph usually has. If there are more, a newer number
// replaces an older number.
#ifndef TOOLS_MODEL_SEQUENCE_MAP_H_
#define TOOLS_MODEL_SEQUENCE_MAP_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace memoir {

template <class Value>
class SequenceMap {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 20;  // 24 MiB for ForwardOperators

  // Stores `value` for the number `sequence`, which must not be negative.
  void Note(std::int64_t sequence, Value value) {
    if (entries_.empty()) entries_.resize(kFirst);
    while (At(sequence).sequence >= 0 && At(sequence).sequence != sequence && entries_.size() < kMost) Grow();
    At(sequence) = {sequence, value};
  }
  // Returns Value() if the number is unknown.
  Value Find(std::int64_t sequence) const {
    if (entries_.empty() || sequence < 0) return Value();
    const Entry& entry = entries_[static_cast<std::size_t>(sequence) & (entries_.size() - 1)];
    return entry.sequence == sequence ? entry.value : Value();
  }

 private:
  static constexpr std::size_t kFirst = 256;
  struct Entry {
    std::int64_t sequence = -1;
    Value value;
  };
  Entry& At(std::int64_t sequence) { return entries_[static_cast<std::size_t>(sequence) & (entries_.size() - 1)]; }
  void Grow() {
    std::vector<Entry> old = std::exchange(entries_, {});
    entries_.resize(old.size() * 2);
    for (const Entry& entry : old) {
      if (entry.sequence >= 0) At(entry.sequence) = entry;
    }
  }

  std::vector<Entry> entries_;  // by the low bits of the number
};

}  // namespace memoir

#endif  // TOOLS_MODEL_SEQUENCE_MAP_H_
