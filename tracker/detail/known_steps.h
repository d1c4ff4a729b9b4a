// Which allocations the steps before had (detail=auto): a step that repeats one that was recorded in full is recorded
// without its operators, for readers know them by their place in the step (tools/model/known_blocks.h).
//
//     step mark ─► blocks of the host's step thread:  a ─ ab ─ abc   each a number (known_numbers.h), with how often it
//                  blocks of each CUDA device:        d ─ de         was seen in a step that was recorded in full
//     step mark ─► all of them together, likewise
//
// A number stands for all allocations of its sequence since the mark: the sizes asked for and the streams, in order. A
// step is known once its numbers were seen kTimesInFull times, and deviates with the first that was not. Frees do not
// count, nor do the host's blocks of other threads, whose order nobody knows.
//
// What followed a step the last time is taken for what follows it now: before one that is not known yet operators are
// recorded from the begin on.
//
// A step that deviates now and then (every tenth writes a log) would never be learned, for it always begins without
// operators. So where two have deviated, as many steps later operators are recorded from the begin on, in case another
// one comes.
//
// One table a process, of fixed size: what it takes does not grow with the program. Once it is full nothing new is
// learned, and a step that is not known is recorded without its operators, too.
//
// Threads: Begin and End are the session's; all else is any thread's, and neither locks nor allocates.
#ifndef TRACKER_DETAIL_KNOWN_STEPS_H_
#define TRACKER_DETAIL_KNOWN_STEPS_H_

#include <atomic>
#include <cstdint>

#include "tracker/detail/known_numbers.h"

namespace memoir {

inline constexpr std::uint32_t kTimesInFull = known_numbers::kMostCounted;
inline constexpr std::uint64_t kMostKnownAllocations = known_numbers::kMost;

// From here on allocations are followed, until EndKnownSteps. `deviates` is called in the allocation with which a step
// that was expected to be known deviates, under the allocator's lock. False: no memory for the table (12 MiB).
bool BeginKnownSteps(void (*deviates)()) noexcept;
void EndKnownSteps() noexcept;

// No step is known from here on: what was recorded in full may be evicted, and a part of a capture is to be read
// without those before it. Between two steps.
void ForgetKnownSteps() noexcept;

// A step ends and the next one begins, on this thread of the ring's, whose host blocks count from here on. Returns
// whether operators may go unrecorded in it. `in_full`: they are recorded if not, so that it may be learned.
bool KnownStepBegins(std::uint32_t thread, bool in_full) noexcept;

// How much is recorded changes for another reason: the step in hand is neither learned nor expected to be known.
void PassKnownStep() noexcept;

// Whether the table is full.
bool KnownStepsAreFull() noexcept;

// Of hooks, before they record the block.
namespace known_steps {
extern constinit std::atomic<bool> followed;
void FollowHostBlock(std::uint32_t thread, std::uint8_t device_type, std::uint64_t bytes) noexcept;
void FollowDeviceBlock(std::int8_t device_index, std::uint64_t requested, std::uint64_t stream) noexcept;
}  // namespace known_steps
inline bool StepsAreFollowed() { return known_steps::followed.load(std::memory_order_relaxed); }

}  // namespace memoir

#endif  // TRACKER_DETAIL_KNOWN_STEPS_H_
