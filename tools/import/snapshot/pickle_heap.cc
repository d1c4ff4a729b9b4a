#include "tools/import/snapshot/pickle_heap.h"

namespace memoir {
namespace {

using Kind = PickleValue::Kind;
constexpr std::uint64_t kTextBytes = 64;  // bytes of a text besides its letters: the object and the table entry

}  // namespace

std::uint32_t PickleHeap::AddText(std::string_view text) {
  const auto known = numbers_.find(text);
  if (known != numbers_.end()) return known->second;
  const auto number = static_cast<std::uint32_t>(texts_.size());
  numbers_.emplace(texts_.emplace_back(text), number);
  bytes_ += kTextBytes + text.size();
  return number;
}

PickleValue PickleHeap::AddInteger(std::int64_t value) {
  if (Value::FitsInteger(value)) return Value::Integer(value);
  wide_.push_back(value);
  bytes_ += sizeof value;
  return Value::Of(Kind::kWide, wide_.size() - 1);
}

std::int64_t PickleHeap::Integer(Value value) const {
  if (value.is(Kind::kInteger)) return value.integer();
  return value.is(Kind::kWide) ? wide_[value.data()] : 0;
}

PickleValue PickleHeap::AddContainer() {
  containers_.push_back(PackState(ContainerState::kEmpty, 0));
  bytes_ += sizeof(std::uint64_t);
  return Value::Of(Kind::kContainer, containers_.size() - 1);
}

void PickleHeap::Append(Value container, std::span<const Value> items) {
  std::uint64_t& packed = containers_[container.data()];
  if (static_cast<ContainerState>(packed & 3) == ContainerState::kEmpty) {
    if (unused_.empty()) {
      unused_.push_back(static_cast<std::uint32_t>(items_.size()));
      items_.emplace_back();
    }
    packed = PackState(ContainerState::kItems, unused_.back());
    unused_.pop_back();
  }
  std::vector<Value>& there = items_[packed >> 2];
  there.insert(there.end(), items.begin(), items.end());
  bytes_ += items.size_bytes();
}

void PickleHeap::Replace(Value container, std::uint64_t number) {
  if (!container.is(Kind::kContainer)) return;
  std::uint64_t& packed = containers_[container.data()];
  if (static_cast<ContainerState>(packed & 3) == ContainerState::kItems) {
    bytes_ -= items_[packed >> 2].size() * sizeof(Value);
    std::vector<Value>().swap(items_[packed >> 2]);
    unused_.push_back(static_cast<std::uint32_t>(packed >> 2));
  }
  packed = PackState(ContainerState::kNumber, number);
}

std::span<const PickleValue> PickleHeap::Items(Value value) const {
  if (!value.is(Kind::kContainer)) return {};
  const std::uint64_t packed = containers_[value.data()];
  if (static_cast<ContainerState>(packed & 3) != ContainerState::kItems) return {};
  return items_[packed >> 2];
}

std::optional<std::uint64_t> PickleHeap::VisitorNumber(Value value) const {
  if (!value.is(Kind::kContainer)) return std::nullopt;
  const std::uint64_t packed = containers_[value.data()];
  if (static_cast<ContainerState>(packed & 3) != ContainerState::kNumber) return std::nullopt;
  return packed >> 2;
}

}  // namespace memoir
