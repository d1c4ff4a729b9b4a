// The texts, wide numbers and containers of a pickle that is being read (PickleReader), by the numbers in its values.
//
// One thread. Bounds are the reader's.
#ifndef TOOLS_IMPORT_PICKLE_HEAP_H_
#define TOOLS_IMPORT_PICKLE_HEAP_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/import/pickle_value.h"

namespace memoir {

class PickleHeap {
 public:
  using Value = PickleValue;
  // Of a container: nothing yet, items, or the number that stands in its place.
  enum class State : std::uint8_t { kEmpty, kItems, kNumber };

  // The text's number; texts that are added before a pickle is read have 0, 1, 2, ...
  std::uint32_t AddText(std::string_view text);
  std::string_view text(std::uint32_t number) const { return texts_[number]; }
  std::size_t texts() const { return texts_.size(); }

  // What all of it takes, roughly.
  std::uint64_t bytes() const { return bytes_; }

  Value AddInteger(std::int64_t value);
  std::int64_t Integer(Value value) const;  // 0 of what is none

  Value AddContainer();
  std::size_t containers() const { return containers_.size(); }
  State StateOf(Value container) const { return static_cast<State>(containers_[container.data()] & 3); }
  void Append(Value container, std::span<const Value> items);  // to one that is empty, or has items
  void Replace(Value container, std::uint64_t number);         // its items go

  std::span<const Value> Items(Value value) const;         // of a list, or of a dictionary that nobody took; else none
  std::optional<std::uint64_t> Number(Value value) const;  // what stands in a container's place

 private:
  static std::uint64_t Packed(State state, std::uint64_t data) { return (data << 2) | static_cast<unsigned>(state); }

  std::deque<std::string> texts_;
  absl::flat_hash_map<std::string_view, std::uint32_t> numbers_;
  std::vector<std::int64_t> wide_;
  std::vector<std::uint64_t> containers_;  // Packed
  std::vector<std::vector<Value>> items_;
  std::vector<std::uint32_t> unused_;  // of items_
  std::uint64_t bytes_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_IMPORT_PICKLE_HEAP_H_
