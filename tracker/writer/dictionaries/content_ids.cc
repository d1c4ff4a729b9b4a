#include "tracker/writer/dictionaries/content_ids.h"

#include <utility>

namespace memoir {
namespace {
constexpr std::size_t kFirstSlots = 1024;
}  // namespace

ContentIds::ContentIds() : slots_(kFirstSlots) {}

ContentIds::Slot& ContentIds::FindSlot(const ContentHash& hash) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = hash.low & mask;
  while (slots_[at].id != 0 && !(slots_[at].hash == hash)) at = (at + 1) & mask;
  return slots_[at];
}

ContentIds::Result ContentIds::Find(const ContentHash& hash, std::uint32_t part) {
  Slot* slot = &FindSlot(hash);
  if (slot->id == 0) [[unlikely]] {
    if ((count_ + 1) * 2 > slots_.size()) {
      Grow();
      slot = &FindSlot(hash);
    }
    *slot = {hash, ++last_id_, 0};
    ++count_;
  }
  const bool needs_definition = slot->part != part;
  slot->part = part;
  return {slot->id, needs_definition};
}

void ContentIds::Grow() {
  std::vector<Slot> old = std::exchange(slots_, {});
  const bool forget = count_ >= kMaxContents;
  slots_.resize(forget ? kFirstSlots : old.size() * 2);
  if (forget) {
    count_ = 0;
    return;
  }
  for (const Slot& slot : old) {
    if (slot.id != 0) FindSlot(slot.hash) = slot;
  }
}

}  // namespace memoir
