// What is known of the forward operator with an autograd sequence number, for one thread: by it a backward node finds
// what made it. Several operators can carry one number, since only those that make a node use it up: the last counts.
//
// Holds the newest 2^20 numbers of the thread, of which a graph seldom has more; a node whose operator lies further
// back finds nothing.
#ifndef TOOLS_MODEL_BY_SEQUENCE_H_
#define TOOLS_MODEL_BY_SEQUENCE_H_

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace memoir {

template <class Value>
class BySequence {
 public:
  static constexpr std::size_t kMost = std::size_t{1} << 20;  // 16 MiB

  // `sequence` is not negative.
  void Note(std::int64_t sequence, Value value) {
    if (entries_.empty()) entries_.resize(kFirst);
    while (At(sequence).sequence >= 0 && At(sequence).sequence != sequence && entries_.size() < kMost) Grow();
    At(sequence) = {sequence, value};
  }
  // Value() where nothing is known.
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

#endif  // TOOLS_MODEL_BY_SEQUENCE_H_
