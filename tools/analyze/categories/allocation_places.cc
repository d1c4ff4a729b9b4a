#include "tools/analyze/categories/allocation_places.h"

#include "absl/hash/hash.h"

namespace memoir {
namespace {

template <class... Values>
std::uint64_t Mix(const Values&... values) {
  const std::uint64_t hash = absl::HashOf(values...);
  return hash == AllocationPlaces::kNowhere ? 1 : hash;
}

}  // namespace

AllocationPlaces::Thread& AllocationPlaces::ThreadOf(ThreadId thread) {
  if (thread.value >= threads_.size()) threads_.resize(thread.value + 1);
  return threads_[thread.value];
}

void AllocationPlaces::EnterModule(ThreadId thread, std::uint32_t depth, ModuleId module) {
  Exit(thread, depth, true);
  if (thread.valid()) ThreadOf(thread).open.push_back({Mix(module.value), Mix(module.value), depth, true});
}

void AllocationPlaces::EnterRange(ThreadId thread, std::uint32_t depth, NameId name, std::uint64_t maker) {
  Exit(thread, depth, false);
  if (thread.valid()) ThreadOf(thread).open.push_back({Mix(name.value, maker), Mix(name.value, maker), depth, false});
}

// Closes the open module or range at `depth`, and everything that opened inside it and has no recorded end. Also called
// before a module or range opens at `depth`, in case the end of an earlier module or range at this depth was not
// recorded.
void AllocationPlaces::Exit(ThreadId thread, std::uint32_t depth, bool module) {
  if (!thread.valid()) return;
  Thread& of = ThreadOf(thread);
  for (std::size_t i = of.open.size(); i > 0; --i) {
    const OpenPlace& open = of.open[i - 1];
    if (open.module != module || open.depth > depth) continue;
    if (open.depth < depth) return;
    if (i == 1) of.outside = Mix(open.began, module, 0);
    of.open.resize(i - 1);
    return;
  }
}

std::uint64_t AllocationPlaces::CurrentPlace(ThreadId thread) {
  if (!thread.valid()) return kNowhere;
  const Thread& of = ThreadOf(thread);
  return of.open.empty() ? of.outside : of.open.back().here;
}

std::uint64_t AllocationPlaces::NextPlace(ThreadId thread, NameId operator_name, NameId leaf_name, Phase phase) {
  if (!thread.valid()) return kNowhere;
  Thread& of = ThreadOf(thread);
  std::uint64_t& here = of.open.empty() ? of.outside : of.open.back().here;
  return here = Mix(here, operator_name.value, leaf_name.value, phase);
}

void AllocationPlaces::Note(std::uint64_t place, const Outcome& became) {
  if (place == kNowhere) return;
  if (became_.size() < kMostPlaces) {
    became_[place] = became;
  } else if (const auto known = became_.find(place); known != became_.end()) {
    known->second = became;
  }
}

const AllocationPlaces::Outcome* AllocationPlaces::Find(std::uint64_t place) const {
  const auto known = became_.find(place);
  return known == became_.end() ? nullptr : &known->second;
}

}  // namespace memoir
