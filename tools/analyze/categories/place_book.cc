#include "tools/analyze/categories/place_book.h"

#include "absl/hash/hash.h"

namespace memoir {
namespace {

template <class... Values>
std::uint64_t Mix(const Values&... values) {
  const std::uint64_t hash = absl::HashOf(values...);
  return hash == PlaceBook::kNowhere ? 1 : hash;
}

}  // namespace

PlaceBook::Thread& PlaceBook::Of(ThreadId thread) {
  if (thread.value >= threads_.size()) threads_.resize(thread.value + 1);
  return threads_[thread.value];
}

void PlaceBook::EnterModule(ThreadId thread, std::uint32_t depth, ModuleId module) {
  Exit(thread, depth, true);
  if (thread.valid()) Of(thread).open.push_back({Mix(module.value), Mix(module.value), depth, true});
}

void PlaceBook::EnterRange(ThreadId thread, std::uint32_t depth, NameId name, std::uint64_t maker) {
  Exit(thread, depth, false);
  if (thread.valid()) Of(thread).open.push_back({Mix(name.value, maker), Mix(name.value, maker), depth, false});
}

// What stands above it, or at its depth where another begins, has lost its end.
void PlaceBook::Exit(ThreadId thread, std::uint32_t depth, bool module) {
  if (!thread.valid()) return;
  Thread& of = Of(thread);
  for (std::size_t i = of.open.size(); i > 0; --i) {
    const Open& open = of.open[i - 1];
    if (open.module != module || open.depth > depth) continue;
    if (open.depth < depth) return;
    if (i == 1) of.outside = Mix(open.began, module, 0);
    of.open.resize(i - 1);
    return;
  }
}

std::uint64_t PlaceBook::Here(ThreadId thread) {
  if (!thread.valid()) return kNowhere;
  const Thread& of = Of(thread);
  return of.open.empty() ? of.outside : of.open.back().here;
}

std::uint64_t PlaceBook::Next(ThreadId thread, NameId operator_name, NameId leaf_name, Phase phase) {
  if (!thread.valid()) return kNowhere;
  Thread& of = Of(thread);
  std::uint64_t& here = of.open.empty() ? of.outside : of.open.back().here;
  return here = Mix(here, operator_name.value, leaf_name.value, phase);
}

void PlaceBook::Note(std::uint64_t place, const Became& became) {
  if (place == kNowhere) return;
  if (became_.size() < kMostPlaces) {
    became_[place] = became;
  } else if (const auto known = became_.find(place); known != became_.end()) {
    known->second = became;
  }
}

const PlaceBook::Became* PlaceBook::Find(std::uint64_t place) const {
  const auto known = became_.find(place);
  return known == became_.end() ? nullptr : &known->second;
}

}  // namespace memoir
