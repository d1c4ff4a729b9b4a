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

SkipFinder::SkipFinder(const std::vector<RowsOfStep>& steps) : steps_(steps), behind_(steps.size()) {
  for (const RowsOfStep& step : steps) {
    if (step.whole != nullptr) steps_back_ = std::max<std::uint64_t>(steps_back_, step.whole->steps_back);
  }
}

void SkipFinder::Note(std::size_t step, const RepeatPlaces& places) {
  if (steps_[step].whole == nullptr || places.living() > kMostLiving || work_ > kMostWork) return;
  work_ += places.living();
  behind_[step] = {true, places.HashOfLiving(steps_[step].step), places.others_freed()};
}

std::optional<RepeatSkip> SkipFinder::Find(std::size_t step, RepeatPlaces& places) {
  if (steps_back_ >= steps_.size() || work_ > kMostWork || step < first_) return std::nullopt;
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

// Behind the steps before `step` lives what lived a cycle before, and the cycle freed nothing that is older than rows.
bool SkipFinder::IsSteady(std::size_t step, std::size_t period) const {
  for (std::size_t i = step - period; i < step; ++i) {
    if (!IsLike(i, period) || !behind_[i].known) return false;
  }
  const Behind& now = behind_[step - 1];
  const Behind& before = behind_[step - 1 - period];
  return before.known && now.living == before.living && now.others_freed == before.others_freed;
}

std::optional<RepeatSkip> SkipFinder::FindOf(std::size_t period, std::size_t step, RepeatPlaces& places) {
  if (!IsSteady(step, period)) return std::nullopt;
  std::size_t end = step;
  while (end < steps_.size() && IsLike(end, period)) ++end;
  // One at least: it allocates what lives on a device anew.
  const std::size_t shown_behind =
      std::max<std::size_t>(1, static_cast<std::size_t>(steps_back_ + period - 1) / period);
  const std::size_t fewest = (kFewestSteps + period - 1) / period;
  const std::size_t first_row = steps_[step].first_row;
  const auto end_of = [&](std::size_t cycles) { return steps_[step + cycles * period - 1].end_row(); };
  std::size_t cycles = (end - step) / period;
  if (cycles >= shown_behind + fewest) {
    const std::size_t in_step = first_row + places.RowsInStep(first_row, end_of(cycles));
    while (cycles > 0 && end_of(cycles) > in_step) --cycles;
  }
  if (cycles >= shown_behind + fewest) {
    if (std::optional<RepeatSkip> skip = PassOver(period, step, cycles - shown_behind, fewest, places)) return skip;
  }
  work_ += 1 + end - step;
  return std::nullopt;
}

// So many cycles, or fewer: a chunk among them may not go on with what rows have allocated.
std::optional<RepeatSkip> SkipFinder::PassOver(std::size_t period, std::size_t step, std::size_t cycles,
                                               std::size_t fewest, RepeatPlaces& places) {
  RepeatSkip skip{step, period, cycles, places.Living(), {}};
  std::vector<const Stretch*> stretches;
  for (std::size_t i = step; i < step + period; ++i) stretches.push_back(steps_[i].whole);
  const CycleLives lives(stretches);
  while (skip.cycles >= fewest) {
    const auto passed = absl::MakeConstSpan(steps_).subspan(step, skip.cycles * period);
    const auto fit = static_cast<std::size_t>(places.PassOver(passed, lives, &skip.serials));
    if (fit == skip.cycles) return skip;
    work_ += passed.size();
    skip.cycles = fit;
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
