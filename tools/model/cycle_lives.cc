#include "tools/model/cycle_lives.h"

#include <algorithm>
#include <cstddef>

namespace memoir {
namespace {

// Rounds down.
std::int64_t Quotient(std::int64_t number, std::int64_t by) {
  const std::int64_t quotient = number / by;
  return number % by < 0 ? quotient - 1 : quotient;
}

}  // namespace

CycleLives::CycleLives(const std::vector<const Stretch*>& steps) : begins_{0} {
  for (const Stretch* step : steps) begins_.push_back(begins_.back() + static_cast<std::int64_t>(step->events.size()));
  lengths_.resize(static_cast<std::size_t>(length()));
  for (std::size_t step = 0; step < steps.size(); ++step) {
    for (std::size_t i = 0; i < steps[step]->events.size(); ++i) {
      const StretchEvent& free = steps[step]->events[i];
      if (free.of_host < kAllocatedInStep) continue;
      const std::int64_t back = free.of_host - kAllocatedInStep;
      const auto freed = static_cast<std::int64_t>(step) - back;
      const std::int64_t cycle = Quotient(freed, static_cast<std::int64_t>(steps.size()));
      const auto of = static_cast<std::size_t>(freed - cycle * static_cast<std::int64_t>(steps.size()));
      if (free.freed_event >= steps[of]->events.size()) continue;
      const std::int64_t event = begins_[of] + free.freed_event;
      const std::int64_t lives = begins_[step] + static_cast<std::int64_t>(i) - cycle * length() - event;
      std::int64_t& known = lengths_[static_cast<std::size_t>(event)];
      if (lives <= 0 || known != 0) continue;
      known = lives;
      lives_.push_back({event, lives});
    }
  }
}

std::int64_t CycleLives::BeginOf(std::int64_t step) const {
  const auto steps_of_cycle = static_cast<std::int64_t>(steps());
  const std::int64_t cycle = Quotient(step, steps_of_cycle);
  return cycle * length() + begins_[static_cast<std::size_t>(step - cycle * steps_of_cycle)];
}

std::optional<std::int64_t> CycleLives::EventOf(std::int64_t step, std::uint32_t event) const {
  const std::int64_t of_step = BeginOf(step) + event;
  if (of_step >= BeginOf(step + 1)) return std::nullopt;
  return of_step;
}

std::optional<std::int64_t> CycleLives::FreeOf(std::int64_t event) const {
  const std::int64_t of_cycle = event - Quotient(event, length()) * length();
  const std::int64_t lives = lengths_[static_cast<std::size_t>(of_cycle)];
  if (lives == 0) return std::nullopt;
  return event + lives;
}

std::vector<std::int64_t> CycleLives::LivingBefore(std::int64_t event) const {
  std::vector<std::int64_t> living;
  for (const Life& life : lives_) {
    std::int64_t allocated = life.event + Quotient(event - 1 - life.event, length()) * length();
    for (; allocated + life.length >= event; allocated -= length()) living.push_back(allocated);
  }
  std::ranges::sort(living);
  return living;
}

}  // namespace memoir
