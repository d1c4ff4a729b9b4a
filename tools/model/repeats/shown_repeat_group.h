// Measures by how much the newest visited repeat group changed the counts of a replay. The replay adds this change for
// each collapsed group.
#ifndef TOOLS_MODEL_REPEATS_SHOWN_REPEAT_GROUP_H_
#define TOOLS_MODEL_REPEATS_SHOWN_REPEAT_GROUP_H_

#include <cstdint>
#include <utility>

#include "tools/model/repeated_step_counts.h"

namespace memoir {

// Counts of a replay that pattern rows can change.
struct ReplayCounts {
  std::uint64_t allocations = 0;
  std::uint64_t unmatched_deallocations = 0, replaced_blocks = 0, late_events = 0;
  RepeatedStepCounts repeated_steps;
};

// The repeat group that was visited last. known() is true after the whole group was visited without any other event in
// between.
class ShownRepeatGroup {
 public:
  // Begins a group. If another event was visited since the last group began, the counts of the new group may depend on
  // that event. The new group is then not measured, and the function returns false.
  bool Begin(const ReplayCounts& counts) {
    state_ = std::exchange(interrupted_, false) ? State::kNone : State::kOpen;
    before_ = counts;
    return open();
  }
  bool open() const { return state_ == State::kOpen; }  // true: the group has begun and not ended
  bool known() const { return state_ == State::kKnown; }
  // Ends the group, and computes change(). `counts` has the counts of the replay after the group.
  void End(const ReplayCounts& counts) {
    state_ = State::kKnown;
    change_ = counts;
    change_.allocations -= before_.allocations;
    change_.unmatched_deallocations -= before_.unmatched_deallocations;
    change_.replaced_blocks -= before_.replaced_blocks;
    change_.late_events -= before_.late_events;
    change_.repeated_steps = counts.repeated_steps.Since(before_.repeated_steps);
  }
  // Call this function when the replay visits an event that is not in pattern rows.
  void Interrupt() {
    state_ = State::kNone;
    interrupted_ = true;
  }
  // Call this function when the visitor allows no group to be collapsed (Visitor::MostRepeats returns 0). The replay
  // then visits and measures the next group.
  void Forget() { state_ = State::kNone; }

  const ReplayCounts& change() const { return change_; }

 private:
  enum class State : std::uint8_t { kNone, kOpen, kKnown };
  State state_ = State::kNone;
  bool interrupted_ = false;
  ReplayCounts before_, change_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPEATS_SHOWN_REPEAT_GROUP_H_
