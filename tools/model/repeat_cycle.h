// What one cycle of steps changes in the counts of a replay, so that it can be added for those that are passed over.
#ifndef TOOLS_MODEL_REPEAT_CYCLE_H_
#define TOOLS_MODEL_REPEAT_CYCLE_H_

#include <cstdint>
#include <utility>

#include "tools/model/known_steps.h"

namespace memoir {

// Of a replay that shows rows.
struct RepeatCounts {
  std::uint64_t allocations = 0;
  std::uint64_t unmatched_deallocations = 0, replaced_blocks = 0, late_events = 0;
  KnownSteps known_steps;
};

// The cycle that was shown last. Known, once all of it was, and nothing but its rows since it began.
class ShownCycle {
 public:
  // False: the one that begins may go on with what was shown in between.
  bool Begin(const RepeatCounts& counts) {
    state_ = std::exchange(interrupted_, false) ? State::kNone : State::kOpen;
    before_ = counts;
    return open();
  }
  bool open() const { return state_ == State::kOpen; }
  bool known() const { return state_ == State::kKnown; }
  void End(const RepeatCounts& counts) {
    state_ = State::kKnown;
    change_ = counts;
    change_.allocations -= before_.allocations;
    change_.unmatched_deallocations -= before_.unmatched_deallocations;
    change_.replaced_blocks -= before_.replaced_blocks;
    change_.late_events -= before_.late_events;
    change_.known_steps = counts.known_steps.Since(before_.known_steps);
  }
  // Something else is shown.
  void Interrupt() {
    state_ = State::kNone;
    interrupted_ = true;
  }
  // It is not enough to know this one.
  void Forget() { state_ = State::kNone; }

  const RepeatCounts& change() const { return change_; }

 private:
  enum class State : std::uint8_t { kNone, kOpen, kKnown };
  State state_ = State::kNone;
  bool interrupted_ = false;
  RepeatCounts before_, change_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPEAT_CYCLE_H_
