#include "tools/model/repeat_skips.h"

#include <algorithm>

namespace memoir {
namespace {

constexpr std::size_t kLongestPeriod = 32;
// With fewer a longer period is waited for: nine steps of a kind and one of another are a cycle of ten.
constexpr std::size_t kFewestSteps = 8;
constexpr std::size_t kMostLiving = 1u << 14;
constexpr std::uint64_t kMostWork = 1u << 24;

}  // namespace

SkipFinder::SkipFinder(const std::vector<RowsOfStep>& steps) : steps_(steps), behind_(steps.size()) {}

// Blocks that the last steps would not free do not count: one that a step in a hundred replaces is there for long.
void SkipFinder::Note(std::size_t step, const RepeatPlaces& places) {
  if (steps_[step].whole == nullptr || places.living() > kMostLiving || work_ > kMostWork) return;
  work_ += places.living();
  const std::uint64_t steps_back = StepsBack(step + 1 - std::min(step + 1, kLongestPeriod), step + 1);
  behind_[step] = {true, places.living(), steps_back, places.HashOfLiving(steps_[step].step, steps_back),
                   places.others_freed()};
}

// The most, from a free in these steps to what it frees.
std::uint64_t SkipFinder::StepsBack(std::size_t first_step, std::size_t end_step) const {
  std::uint64_t most = 0;
  for (std::size_t i = first_step; i < end_step; ++i) {
    if (steps_[i].whole != nullptr) most = std::max<std::uint64_t>(most, steps_[i].whole->steps_back);
  }
  return most;
}

std::optional<RepeatSkip> SkipFinder::Find(std::size_t step, RepeatPlaces& places) {
  if (work_ > kMostWork || step < first_ || steps_[step].first_row < places.fits_from()) return std::nullopt;
  for (std::size_t period = 1; period <= std::min(kLongestPeriod, (step - first_) / 2); ++period) {
    if (!IsLike(step, period)) continue;
    if (std::optional<RepeatSkip> skip = FindOf(period, step, places)) return skip;
  }
  return std::nullopt;
}

bool SkipFinder::IsLike(std::size_t step, std::size_t period) const {
  return steps_[step].whole != nullptr && steps_[step].whole == steps_[step - period].whole &&
         steps_[step].step == steps_[step - 1].step + 1;
}

// Behind the steps before `step` lives what lived a cycle before, all that the cycle will free is of steps like its
// own, and it freed nothing that is older than rows.
bool SkipFinder::IsSteady(std::size_t step, std::size_t period) const {
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

std::optional<RepeatSkip> SkipFinder::FindOf(std::size_t period, std::size_t step, RepeatPlaces& places) {
  const std::uint64_t steps_back = StepsBack(step - period, step);
  if (!IsSteady(step, period) || steps_back >= steps_.size()) return std::nullopt;
  // One at least: it allocates what lives on a device anew.
  const std::size_t shown_behind =
      std::max<std::size_t>(1, (static_cast<std::size_t>(steps_back) + period - 1) / period);
  const std::size_t fewest = shown_behind + (kFewestSteps + period - 1) / period;
  const std::size_t first_row = steps_[step].first_row;
  std::size_t cycles = 0, end = step;
  const auto find_cycles = [&](std::size_t most) {
    while (end < steps_.size() && end - step < most && IsLike(end, period)) ++end;
    cycles = (end - step) / period;
    if (cycles == 0) return;
    const auto end_of = [&](std::size_t count) { return steps_[step + count * period - 1].end_row(); };
    const std::size_t in_step = first_row + places.RowsInStep(first_row, end_of(cycles));
    while (cycles > 0 && end_of(cycles) > in_step) --cycles;
  };
  const std::uint64_t compared = places.serials_compared();
  find_cycles(fewest * period);
  work_ += 1 + end - step + places.serials_compared() - compared;
  if (cycles < fewest) return std::nullopt;
  find_cycles(steps_.size());
  return PassOver(period, step, cycles, shown_behind, places);
}

// So many cycles but the last ones, or fewer: a chunk among them may not go on with what rows have allocated. Then,
// too, the last ones before it are shown.
std::optional<RepeatSkip> SkipFinder::PassOver(std::size_t period, std::size_t step, std::size_t cycles,
                                               std::size_t shown_behind, RepeatPlaces& places) {
  std::vector<const Stretch*> stretches;
  std::size_t events = 0;
  for (std::size_t i = step; i < step + period; ++i) {
    stretches.push_back(steps_[i].whole);
    events += steps_[i].whole->events.size();
  }
  if (events > kMaxRepeatedEvents) return std::nullopt;
  const CycleLives lives(stretches);
  RepeatSkip skip{step, period, 0, places.LivingOf(lives, steps_[step].step), {}};
  work_ += static_cast<std::uint64_t>(lives.length());
  while (cycles > shown_behind) {
    skip.cycles = cycles - shown_behind;
    const auto passed = absl::MakeConstSpan(steps_).subspan(step, skip.cycles * period);
    cycles = places.PassOver(passed, lives, &skip.serials);
    if (cycles == skip.cycles) return skip;
    work_ += passed.size();
  }
  return std::nullopt;
}

SkipWalk::SkipWalk(const RepeatSkip& skip, const std::vector<RepeatRow>& rows, const std::vector<RowsOfStep>& steps,
                   const Renamed& renamed)
    : skip_(&skip), rows_(&rows), steps_(&steps), step_before_(steps[skip.first].step - 1), serials_(skip.serials) {
  for (const LivingBlock& block : skip.living) {
    const auto other = renamed.find(block.address);
    living_[block.block] = other == renamed.end() ? block.address : other->second;
  }
  for (std::size_t i = 0; i < skip.period; ++i) {
    for (const StretchEvent& event : StretchOf(i).events) {
      if (IsOfMemory(event) && event.of_host == 0) ++serials_of_cycle_[event.device];
    }
  }
}

void SkipWalk::Pass(std::size_t cycles) {
  cycle_ += cycles;
  for (const auto& [device, count] : serials_of_cycle_) serials_[device] += count * cycles;
}

Tick SkipWalk::TicksOf(std::size_t first_step, std::size_t steps) const {
  Tick ticks = 0;
  for (std::size_t i = 0; i < steps; ++i) {
    const RowsOfStep& step = (*steps_)[skip_->first + first_step + i];
    ticks += EndOf(step) - RowOf(step.first_row).first_tick;
  }
  return ticks;
}

void SkipWalk::NextRow() {
  if (++row_ < StepAt(cycle_, step_).rows) return;
  row_ = 0;
  ++steps_opened_;
  if (++step_ < skip_->period) return;
  step_ = 0;
  ++cycle_;
  opened_ = false;
}

RepeatPlace SkipWalk::Place(const StretchEvent& event, std::uint32_t index) {
  if (event.of_host == 0) return {0, serials_[event.device]++};
  const std::uint64_t step = step_before_ + 1 + steps_opened_;
  if (event.kind == v1::ALLOCATE) {
    const std::uint64_t address = BlockOfRow(RowOf(row()).step, index);  // none other is shown there
    living_[BlockOfRow(step, index)] = address;
    return {address, 0};
  }
  const auto block = living_.find(BlockOfRow(step - (event.of_host - kAllocatedInStep), event.freed_event));
  if (block == living_.end()) return {};  // not of a cycle that is steady
  const std::uint64_t address = block->second;
  living_.erase(block);
  return {address, 0};
}

std::vector<SkipWalk::Shown> SkipWalk::Living() const {
  std::vector<Shown> shown;
  for (const LivingBlock& block : skip_->living) {
    const auto living = living_.find(block.block + (steps_opened_ << 24));
    if (living != living_.end()) shown.push_back({block.address, living->second, block.device});
  }
  return shown;
}

void SkipWalk::Rename(Renamed& renamed) const {
  for (const Shown& block : Living()) {
    if (block.known == block.shown) {
      renamed.erase(block.known);
    } else {
      renamed[block.known] = block.shown;
    }
  }
}

}  // namespace memoir
