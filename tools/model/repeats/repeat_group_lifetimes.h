// The lifetimes of the host blocks of a repeat group, counted in events. Each repeat of the group allocates
// corresponding blocks, and frees them after the same number of events.
#ifndef TOOLS_MODEL_REPEATS_REPEAT_GROUP_LIFETIMES_H_
#define TOOLS_MODEL_REPEATS_REPEAT_GROUP_LIFETIMES_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tools/read/chunk/step_pattern.h"

namespace memoir {

// Event 0 is the first event of the group. The numbers continue through the later repeats of the group. Events of
// earlier repeats have negative numbers. Steps are numbered in the same way.
class RepeatGroupLifetimes {
 public:
  // `steps`: the patterns of the group's steps.
  explicit RepeatGroupLifetimes(const std::vector<const StepPattern*>& steps);

  std::size_t steps() const { return begins_.size() - 1; }  // number of steps of the group
  std::int64_t length() const { return begins_.back(); }    // number of events of the group
  // Returns the number of event `event` of step `step`. nullopt if that step has fewer events.
  std::optional<std::int64_t> EventOf(std::int64_t step, std::uint32_t event) const;
  std::int64_t BeginOf(std::int64_t step) const;  // returns the first event of step `step`
  // Returns the event that frees the block which `event` allocates. nullopt if `event` allocates no block that the
  // group frees.
  std::optional<std::int64_t> FreeOf(std::int64_t event) const;
  // Returns the events that allocated the blocks which are live directly before `event`, in ascending order. Omits
  // blocks that no repeat of the group frees.
  std::vector<std::int64_t> AllocationsLiveBefore(std::int64_t event) const;

 private:
  struct Lifetime {
    std::int64_t event = 0, length = 0;
  };
  std::vector<std::int64_t> begins_;  // number of the first event of each step, then of the next repeat
  std::vector<Lifetime> lifetimes_;   // lifetimes of the blocks that the group allocates and frees
  // For each event of the group: the number of events from this allocation to the free of its block. 0 if the event
  // allocates no block that the group frees.
  std::vector<std::int64_t> lengths_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPEATS_REPEAT_GROUP_LIFETIMES_H_
