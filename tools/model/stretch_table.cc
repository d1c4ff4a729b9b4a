#include "tools/model/stretch_table.h"

#include <algorithm>

namespace memoir {

void StretchTable::Define(const std::shared_ptr<const Stretch>& stretch) {
  Entry& entry = entries_[stretch->id];
  if (entry.stretch != nullptr) events_ -= entry.stretch->events.size();
  entry = {stretch, ++uses_};
  events_ += stretch->events.size();
  while ((events_ > kMostEvents || entries_.size() > kMostStretches) && entries_.size() > 1) {
    const auto oldest = std::ranges::min_element(entries_, {}, [](const auto& known) { return known.second.used; });
    events_ -= oldest->second.stretch->events.size();
    entries_.erase(oldest);
  }
}

std::shared_ptr<const Stretch> StretchTable::Find(std::uint32_t id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return nullptr;
  found->second.used = ++uses_;
  return found->second.stretch;
}

void StretchTable::Clear() {
  entries_.clear();
  events_ = 0;
}

}  // namespace memoir
