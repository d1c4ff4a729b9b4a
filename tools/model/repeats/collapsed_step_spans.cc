#include "tools/model/repeats/collapsed_step_spans.h"

#include <algorithm>

namespace memoir {
namespace {

constexpr std::size_t kLongestPeriod = 32;
// The fewest steps that are collapsed together. A shorter series of equal steps may belong to a longer repeat group.
// For example, nine equal steps and a different step can form a group of ten.
constexpr std::size_t kFewestSteps = 8;
constexpr std::size_t kMostLiveBlocks = 1u << 14;
constexpr std::uint64_t kMostWork = 1u << 24;

}  // namespace

CollapseFinder::CollapseFinder(const std::vector<StepRows>& steps) : steps_(steps), behind_(steps.size()) {}

// The hash contains only the live blocks that were allocated at most `steps_back` steps ago. `steps_back` is the
// longest lifetime, in steps, of a block that the last kLongestPeriod steps freed. An older block, for example one that
// is replaced every hundred steps, would make equal steps look different.
void CollapseFinder::NoteStep(std::size_t step, const PatternRowAddresses& addresses) {
  if (steps_[step].whole == nullptr || addresses.live_count() > kMostLiveBlocks || work_ > kMostWork) return;
  work_ += addresses.live_count();
  const std::uint64_t steps_back = StepsBack(step + 1 - std::min(step + 1, kLongestPeriod), step + 1);
  behind_[step] = {true, addresses.live_count(), steps_back, addresses.HashLiveBlocks(steps_[step].step, steps_back),
                   addresses.others_freed()};
}

// Returns the longest lifetime, in steps, of the host blocks that these steps free.
std::uint64_t CollapseFinder::StepsBack(std::size_t first_step, std::size_t end_step) const {
  std::uint64_t most = 0;
  for (std::size_t i = first_step; i < end_step; ++i) {
    if (steps_[i].whole != nullptr) most = std::max<std::uint64_t>(most, steps_[i].whole->steps_back);
  }
  return most;
}

std::optional<CollapsedStepSpan> CollapseFinder::FindSpan(std::size_t step, PatternRowAddresses& addresses) {
  if (work_ > kMostWork || step < first_ || steps_[step].first_row < addresses.first_collapsible_row())
    return std::nullopt;
  for (std::size_t period = 1; period <= std::min(kLongestPeriod, (step - first_) / 2); ++period) {
    if (!IsLike(step, period)) continue;
    if (std::optional<CollapsedStepSpan> span = FindWithPeriod(period, step, addresses)) return span;
  }
  return std::nullopt;
}

bool CollapseFinder::IsLike(std::size_t step, std::size_t period) const {
  return steps_[step].whole != nullptr && steps_[step].whole == steps_[step - period].whole &&
         steps_[step].step == steps_[step - 1].step + 1;
}

// Returns true if the following conditions hold for the group of `period` steps that ends before `step`:
// - The live blocks after this group correspond to the live blocks after the previous group.
// - The group frees only blocks of steps that have the patterns of the group.
// - The group frees no block that was allocated outside of the pattern rows.
bool CollapseFinder::IsSteady(std::size_t step, std::size_t period) const {
  const auto steps_back = static_cast<std::size_t>(std::min<std::uint64_t>(StepsBack(step - period, step), step));
  const std::size_t like = std::max(period, steps_back);
  if (step - first_ < period + like) return false;
  for (std::size_t i = step - like; i < step; ++i) {
    if (!IsLike(i, period)) return false;
  }
  for (std::size_t i = step - period; i < step; ++i) {
    if (!behind_[i].known) return false;
  }
  return behind_[step - 1] == behind_[step - 1 - period];
}

// Returns the span of groups of `period` steps that begins with `step`. nullopt if there is no such span.
std::optional<CollapsedStepSpan> CollapseFinder::FindWithPeriod(std::size_t period, std::size_t step,
                                                                PatternRowAddresses& addresses) {
  const std::uint64_t steps_back = StepsBack(step - period, step);
  if (!IsSteady(step, period) || steps_back >= steps_.size()) return std::nullopt;
  // `steps_back` covers host blocks only. Collapsing updates the tick of a live device block, but not its serial.
  // Therefore the replay visits at least one group after the collapsed groups. The events of this group free such
  // blocks, and allocate them again with current serials.
  const std::size_t shown_behind =
      std::max<std::size_t>(1, (static_cast<std::size_t>(steps_back) + period - 1) / period);
  const std::size_t fewest = shown_behind + (kFewestSteps + period - 1) / period;
  const std::size_t first_row = steps_[step].first_row;
  std::size_t groups = 0, end = step;
  const auto find_groups = [&](std::size_t most) {
    while (end < steps_.size() && end - step < most && IsLike(end, period)) ++end;
    groups = (end - step) / period;
    if (groups == 0) return;
    const auto end_of = [&](std::size_t count) { return steps_[step + count * period - 1].end_row(); };
    const std::size_t uninterrupted = first_row + addresses.CountUninterruptedRows(first_row, end_of(groups));
    while (groups > 0 && end_of(groups) > uninterrupted) --groups;
  };
  const std::uint64_t compared = addresses.serials_compared();
  find_groups(fewest * period);
  work_ += 1 + end - step + addresses.serials_compared() - compared;
  if (groups < fewest) return std::nullopt;
  find_groups(steps_.size());
  return Collapse(period, step, groups, shown_behind, addresses);
}

// Collapses the first `groups` - `shown_behind` groups. If a chunk recorded live blocks that contradict these groups,
// tries again with only the groups that end before the contradiction. nullopt if no group can be collapsed.
std::optional<CollapsedStepSpan> CollapseFinder::Collapse(std::size_t period, std::size_t step, std::size_t groups,
                                                          std::size_t shown_behind, PatternRowAddresses& addresses) {
  std::vector<const StepPattern*> patterns;
  std::size_t events = 0;
  for (std::size_t i = step; i < step + period; ++i) {
    patterns.push_back(steps_[i].whole);
    events += steps_[i].whole->events.size();
  }
  if (events > kMaxRowEvents) return std::nullopt;
  const RepeatGroupLifetimes lifetimes(patterns);
  CollapsedStepSpan span{step, period, 0, addresses.LiveBlocksOf(lifetimes, steps_[step].step), {}};
  work_ += static_cast<std::uint64_t>(lifetimes.length());
  while (groups > shown_behind) {
    span.groups = groups - shown_behind;
    const auto passed = absl::MakeConstSpan(steps_).subspan(step, span.groups * period);
    groups = addresses.Collapse(passed, lifetimes, &span.serials);
    if (groups == span.groups) return span;
    work_ += passed.size();
  }
  return std::nullopt;
}

CollapsedStepSpanCursor::CollapsedStepSpanCursor(const CollapsedStepSpan& span, const std::vector<PatternRow>& rows,
                                                 const std::vector<StepRows>& steps, const AddressRenames& renames)
    : span_(&span), rows_(&rows), steps_(&steps), step_before_(steps[span.first].step - 1), serials_(span.serials) {
  for (const LiveRowBlock& block : span.live_blocks) {
    const auto other = renames.find(block.address);
    live_blocks_[block.block] = other == renames.end() ? block.address : other->second;
  }
  for (std::size_t i = 0; i < span.period; ++i) {
    for (const PatternEvent& event : PatternOf(i).events) {
      if (IsMemoryEvent(event) && event.of_host == 0) ++serials_of_group_[event.device];
    }
  }
}

void CollapsedStepSpanCursor::Collapse(std::size_t groups) {
  group_ += groups;
  for (const auto& [device, count] : serials_of_group_) serials_[device] += count * groups;
}

Tick CollapsedStepSpanCursor::TicksOf(std::size_t first_step, std::size_t steps) const {
  Tick ticks = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    const StepRows& step = (*steps_)[span_->first + first_step + i];
    ticks += EndOf(step) - RowOf(step.first_row).first_tick;
  }
  return ticks;
}

void CollapsedStepSpanCursor::NextRow() {
  if (++row_ < StepAt(group_, step_).rows) return;
  row_ = 0;
  ++steps_opened_;
  if (++step_ < span_->period) return;
  step_ = 0;
  ++group_;
  opened_ = false;
}

EventAddress CollapsedStepSpanCursor::NextAddress(const PatternEvent& event, std::uint32_t index) {
  if (event.of_host == 0) return {0, serials_[event.device]++};
  const std::uint64_t step = step_before_ + 1 + steps_opened_;
  if (event.kind == v1::ALLOCATE) {
    const std::uint64_t address = RowBlockId(RowOf(row()).step, index);  // no other block has this address
    live_blocks_[RowBlockId(step, index)] = address;
    return {address, 0};
  }
  const auto block = live_blocks_.find(RowBlockId(step - (event.of_host - kAllocatedInStep), event.freed_event));
  if (block == live_blocks_.end()) return {};  // cannot happen in a steady group
  const std::uint64_t address = block->second;
  live_blocks_.erase(block);
  return {address, 0};
}

std::vector<CollapsedStepSpanCursor::ShownBlock> CollapsedStepSpanCursor::LiveBlocks() const {
  std::vector<ShownBlock> shown;
  for (const LiveRowBlock& block : span_->live_blocks) {
    const auto live = live_blocks_.find(block.block + (steps_opened_ << 24));
    if (live != live_blocks_.end()) shown.push_back({block.address, live->second, block.device});
  }
  return shown;
}

void CollapsedStepSpanCursor::AddRenames(AddressRenames& renames) const {
  for (const ShownBlock& block : LiveBlocks()) {
    if (block.known == block.shown) {
      renames.erase(block.known);
    } else {
      renames[block.known] = block.shown;
    }
  }
}

}  // namespace memoir
