#include "tools/model/forward_modules.h"

#include <utility>

namespace memoir {
namespace {
constexpr std::size_t kFirst = 256;
}  // namespace

void ForwardModules::Note(std::int64_t sequence, ModuleId module) {
  if (entries_.empty()) entries_.resize(kFirst);
  while (At(sequence).sequence >= 0 && At(sequence).sequence != sequence && entries_.size() < kMost) Grow();
  At(sequence) = {sequence, module};
}

ModuleId ForwardModules::Find(std::int64_t sequence) const {
  if (entries_.empty() || sequence < 0) return {};
  const Entry& entry = entries_[static_cast<std::size_t>(sequence) & (entries_.size() - 1)];
  return entry.sequence == sequence ? entry.module : ModuleId();
}

void ForwardModules::Grow() {
  std::vector<Entry> old = std::exchange(entries_, {});
  entries_.resize(old.size() * 2);
  for (const Entry& entry : old) {
    if (entry.sequence >= 0) At(entry.sequence) = entry;
  }
}

}  // namespace memoir
