// The part of SummaryPass that handles repeated steps which a replay does not visit: it adds the effect of a repeat
// group once for each repeat.
#include <utility>

#include "tools/analyze/summary/summary_pass.h"

namespace memoir {
namespace {

// Adds `times` times the counts of `other`, modulo 2^64.
template <class Key>
void Add(std::map<Key, std::uint64_t>& sums, const std::map<Key, std::uint64_t>& other, std::uint64_t times) {
  for (const auto& [key, count] : other) sums[key] += times * count;
}

// Adds all counts except for the table.
void Add(StepCounts& sums, const StepCounts& other, std::uint64_t times) {
  sums.events += times * other.events;
  sums.compiled_allocations += times * other.compiled_allocations;
  sums.compiled_bytes += times * other.compiled_bytes;
  Add(sums.unattributed, other.unattributed, times);
  for (const auto& [device, compiled] : other.compiled) {
    sums.compiled[device].first += times * compiled.first;
    sums.compiled[device].second += times * compiled.second;
  }
  for (const auto& [by, folded] : other.apart) sums.apart[by].Add(folded, times);
  for (std::size_t i = 0; i < kStepSources; ++i) sums.steps[i] += times * other.steps[i];
}

constexpr std::uint64_t kMinusOnce = ~std::uint64_t{0};

}  // namespace

StepCounts SummaryPass::CountsNow() const {
  StepCounts now;
  now.events = summary_.events;
  now.compiled_allocations = summary_.compiled_allocations;
  now.compiled_bytes = summary_.compiled_bytes;
  now.unattributed = unattributed_;
  for (const auto& [device, moments] : caching_notes_)
    now.compiled[device] = {moments.compiled_allocations, moments.compiled_bytes};
  now.apart = apart_;
  now.steps = window_steps_;
  return now;
}

void SummaryPass::SeeRepeatGroupBegin(const RepeatGroupEvent&) {
  at_cycle_ = CountsNow();
  at_cycle_.table = table_.Sums();
}

void SummaryPass::SeeRepeatGroupEnd(const RepeatGroupEvent& event) {
  StepCounts change = CountsNow();
  Add(change, at_cycle_, kMinusOnce);
  change.table = table_.Sums();
  for (std::size_t device = 0; device < at_cycle_.table.size(); ++device) {
    for (std::size_t i = 0; i < at_cycle_.table[device].size(); ++i) {
      CellChange& cell = change.table[device][i];
      const CellChange& before = at_cycle_.table[device][i];
      cell.columns.Add(before.columns, kMinusOnce);
      cell.life_ticks -= before.life_ticks;
      cell.unknown_lives -= before.unknown_lives;
    }
  }
  ticks_of_cycle_ = event.ticks;
  knows_cycle_ = change == of_cycle_;
  of_cycle_ = std::move(change);
}

void SummaryPass::SeeRepeated(const RepeatedEvent& event) {
  StepCounts now = CountsNow();
  Add(now, of_cycle_, event.times);
  summary_.events = now.events;
  summary_.compiled_allocations = now.compiled_allocations;
  summary_.compiled_bytes = now.compiled_bytes;
  unattributed_ = std::move(now.unattributed);
  for (const auto& [device, compiled] : now.compiled) {
    caching_notes_[device].compiled_allocations = compiled.first;
    caching_notes_[device].compiled_bytes = compiled.second;
  }
  apart_ = std::move(now.apart);
  window_steps_ = now.steps;
  table_.Add(of_cycle_.table, ticks_of_cycle_, event);
}

}  // namespace memoir
