#include "tools/model/repeats/repeat_group_lifetimes.h"

#include <algorithm>
#include <cstddef>

namespace memoir {
namespace {

// Returns `number` / `by`, rounded down.
std::int64_t Quotient(std::int64_t number, std::int64_t by) {
  const std::int64_t quotient = number / by;
  return number % by < 0 ? quotient - 1 : quotient;
}

}  // namespace

RepeatGroupLifetimes::RepeatGroupLifetimes(const std::vector<const StepPattern*>& steps) : begins_{0} {
  for (const StepPattern* step : steps)
    begins_.push_back(begins_.back() + static_cast<std::int64_t>(step->events.size()));
  lengths_.resize(static_cast<std::size_t>(length()));
  for (std::size_t step = 0; step < steps.size(); ++step) {
    for (std::size_t i = 0; i < steps[step]->events.size(); ++i) {
      const PatternEvent& free = steps[step]->events[i];
      if (free.of_host < kAllocatedInStep) continue;
      const std::int64_t back = free.of_host - kAllocatedInStep;
      const auto freed = static_cast<std::int64_t>(step) - back;
      const std::int64_t group = Quotient(freed, static_cast<std::int64_t>(steps.size()));
      const auto of = static_cast<std::size_t>(freed - group * static_cast<std::int64_t>(steps.size()));
      if (free.freed_event >= steps[of]->events.size()) continue;
      const std::int64_t event = begins_[of] + free.freed_event;
      const std::int64_t lifetime = begins_[step] + static_cast<std::int64_t>(i) - group * length() - event;
      std::int64_t& known = lengths_[static_cast<std::size_t>(event)];
      if (lifetime <= 0 || known != 0) continue;
      known = lifetime;
      lifetimes_.push_back({event, lifetime});
    }
  }
}

std::int64_t RepeatGroupLifetimes::BeginOf(std::int64_t step) const {
  const auto steps_of_group = static_cast<std::int64_t>(steps());
  const std::int64_t group = Quotient(step, steps_of_group);
  return group * length() + begins_[static_cast<std::size_t>(step - group * steps_of_group)];
}

std::optional<std::int64_t> RepeatGroupLifetimes::EventOf(std::int64_t step, std::uint32_t event) const {
  const std::int64_t of_step = BeginOf(step) + event;
  if (of_step >= BeginOf(step + 1)) return std::nullopt;
  return of_step;
}

std::optional<std::int64_t> RepeatGroupLifetimes::FreeOf(std::int64_t event) const {
  const std::int64_t of_group = event - Quotient(event, length()) * length();
  const std::int64_t lifetime = lengths_[static_cast<std::size_t>(of_group)];
  if (lifetime == 0) return std::nullopt;
  return event + lifetime;
}

std::vector<std::int64_t> RepeatGroupLifetimes::AllocationsLiveBefore(std::int64_t event) const {
  std::vector<std::int64_t> live;
  for (const Lifetime& lifetime : lifetimes_) {
    std::int64_t allocated = lifetime.event + Quotient(event - 1 - lifetime.event, length()) * length();
    for (; allocated + lifetime.length >= event; allocated -= length()) live.push_back(allocated);
  }
  std::ranges::sort(live);
  return live;
}

}  // namespace memoir
