#include "tracker/torch/tensors/holds_record.h"

#include <cstring>
#include <new>

#include "interpose/system/tick.h"

namespace memoir {
namespace {

constexpr std::size_t PadTo(std::size_t bytes, std::size_t to) { return (bytes + to - 1) / to * to; }

}  // namespace

bool RecordLists(ThreadSlot* slot, const HoldingLists& lists) {
  const std::size_t kinds = PadTo(lists.count, 4);
  const std::size_t length_bytes = lists.count * sizeof(std::uint32_t);
  const std::size_t names_at = sizeof(HoldsRecord) + PadTo(kinds + length_bytes, 8);
  const std::size_t name_bytes = lists.parameter_names.size() + lists.buffer_names.size();
  const std::size_t bytes = names_at + PadTo(name_bytes, 8);
  std::uint8_t* place = RingReserve(slot, bytes, OnEmptyPool::kWait);
  if (place == nullptr) return false;
  auto* record = new (place) HoldsRecord{};
  record->header.words = static_cast<std::uint16_t>(bytes / 8);
  record->header.kind = RecordKind::kHolds;
  record->header.flags = static_cast<std::uint8_t>(lists.holder);
  record->header.depth = RingDepth(slot);
  record->header.count = static_cast<std::uint16_t>(lists.count);
  record->tick = Tick();
  record->owner = lists.owner;
  record->list_count = static_cast<std::uint16_t>(lists.count);
  record->name_bytes = static_cast<std::uint16_t>(name_bytes);
  for (std::size_t i = 0; i < lists.count; ++i) record->tensor_count += lists.lengths[i];
  std::memset(place + sizeof(HoldsRecord), 'L', lists.count);
  std::memcpy(place + sizeof(HoldsRecord) + kinds, lists.lengths, length_bytes);
  char* names = reinterpret_cast<char*>(place + names_at);
  lists.parameter_names.copy(names, lists.parameter_names.size());
  lists.buffer_names.copy(names + lists.parameter_names.size(), lists.buffer_names.size());
  RingCommit(slot, bytes);
  return true;
}

}  // namespace memoir
