#include "tools/analyze/summary/pass/repeat_groups.h"

#include <utility>

namespace memoir {
namespace {

// As the argument `times` of Add and AddCounts: subtracts once, because sums are modulo 2^64.
constexpr std::uint64_t kMinusOnce = ~std::uint64_t{0};

}  // namespace

// Adds the counts of `other`, except for the table, `times` times, modulo 2^64.
void RepeatGroups::AddCounts(Counts& sums, const Counts& other, std::uint64_t times) {
  sums.events += times * other.events;
  sums.compiled_allocations += times * other.compiled_allocations;
  sums.compiled_bytes += times * other.compiled_bytes;
  for (const auto& [device, bytes] : other.blocks.unattributed) sums.blocks.unattributed[device] += times * bytes;
  for (const auto& [device, compiled] : other.compiled) {
    sums.compiled[device].allocations += times * compiled.allocations;
    sums.compiled[device].bytes += times * compiled.bytes;
  }
  for (const auto& [by, workspaces] : other.blocks.workspaces) sums.blocks.workspaces[by].Add(workspaces, times);
  for (std::size_t i = 0; i < kStepSources; ++i) sums.steps[i] += times * other.steps[i];
}

RepeatGroups::Counts RepeatGroups::CountsNow() const {
  Counts now;
  now.events = shared_.summary.events;
  now.compiled_allocations = shared_.summary.compiled_allocations;
  now.compiled_bytes = shared_.summary.compiled_bytes;
  now.blocks = blocks_.sums();
  now.compiled = caching_.compiled();
  now.steps = steps_.counts();
  return now;
}

void RepeatGroups::BeginGroup(const RepeatGroupEvent&) {
  at_cycle_ = CountsNow();
  at_cycle_.table = shared_.table.Sums();
}

void RepeatGroups::EndGroup(const RepeatGroupEvent& event) {
  Counts change = CountsNow();
  AddCounts(change, at_cycle_, kMinusOnce);
  change.table = shared_.table.Sums();
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

void RepeatGroups::AddRepeats(const RepeatedEvent& event) {
  Counts now = CountsNow();
  AddCounts(now, of_cycle_, event.times);
  shared_.summary.events = now.events;
  shared_.summary.compiled_allocations = now.compiled_allocations;
  shared_.summary.compiled_bytes = now.compiled_bytes;
  blocks_.set_sums(std::move(now.blocks));
  caching_.set_compiled(now.compiled);
  steps_.set_counts(now.steps);
  shared_.table.Add(of_cycle_.table, ticks_of_cycle_, event);
}

}  // namespace memoir
