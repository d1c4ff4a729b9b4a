#include "tools/model/repeats/step_pattern_table.h"

#include <algorithm>

namespace memoir {

void StepPatternTable::Define(const std::shared_ptr<const StepPattern>& pattern) {
  Entry& entry = entries_[pattern->id];
  if (entry.pattern != nullptr) events_ -= entry.pattern->events.size();
  entry = {pattern, ++uses_};
  events_ += pattern->events.size();
  while ((events_ > kMostEvents || entries_.size() > kMostPatterns) && entries_.size() > 1) {
    const auto oldest = std::ranges::min_element(entries_, {}, [](const auto& known) { return known.second.used; });
    events_ -= oldest->second.pattern->events.size();
    entries_.erase(oldest);
  }
}

std::shared_ptr<const StepPattern> StepPatternTable::Find(std::uint32_t id) {
  const auto found = entries_.find(id);
  if (found == entries_.end()) return nullptr;
  found->second.used = ++uses_;
  return found->second.pattern;
}

void StepPatternTable::Clear() {
  entries_.clear();
  events_ = 0;
}

}  // namespace memoir
