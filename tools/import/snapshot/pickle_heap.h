// Stores the texts, containers and wide integers (of more than 60 bits) of a pickle while PickleReader reads it. A
// PickleValue refers to such an object by its number.
//
// One thread. PickleReader limits the number and size of the objects.
#ifndef TOOLS_IMPORT_SNAPSHOT_PICKLE_HEAP_H_
#define TOOLS_IMPORT_SNAPSHOT_PICKLE_HEAP_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/import/snapshot/pickle_value.h"

namespace memoir {

class PickleHeap {
 public:
  using Value = PickleValue;
  // A container is empty, has items, or was replaced by a number that the visitor returned.
  enum class ContainerState : std::uint8_t { kEmpty, kItems, kNumber };

  // Returns the number of the text. Texts that are added before a pickle is read have the numbers 0, 1, 2, ...
  std::uint32_t AddText(std::string_view text);
  std::string_view text(std::uint32_t number) const { return texts_[number]; }
  std::size_t texts() const { return texts_.size(); }

  // The approximate memory of all objects, in bytes.
  std::uint64_t bytes() const { return bytes_; }

  Value AddInteger(std::int64_t value);
  std::int64_t Integer(Value value) const;  // 0 if `value` is not an integer

  Value AddContainer();
  std::size_t containers() const { return containers_.size(); }
  ContainerState StateOf(Value container) const {
    return static_cast<ContainerState>(containers_[container.data()] & 3);
  }
  void Append(Value container, std::span<const Value> items);  // `container` must be empty or have items
  void Replace(Value container, std::uint64_t number);         // discards the items

  // Returns the items of a list, or of a dictionary that the visitor did not replace. Empty for other values.
  std::span<const Value> Items(Value value) const;
  std::optional<std::uint64_t> VisitorNumber(Value value) const;  // the number that a visitor returned for a container

 private:
  static std::uint64_t PackState(ContainerState state, std::uint64_t data) {
    return (data << 2) | static_cast<unsigned>(state);
  }

  std::deque<std::string> texts_;
  absl::flat_hash_map<std::string_view, std::uint32_t> numbers_;
  std::vector<std::int64_t> wide_;
  std::vector<std::uint64_t> containers_;  // PackState values
  std::vector<std::vector<Value>> items_;
  std::vector<std::uint32_t> unused_;  // unused indices of items_
  std::uint64_t bytes_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_IMPORT_SNAPSHOT_PICKLE_HEAP_H_
