// Repeated steps (detail=auto). A step that repeats a reference step is recorded without its operators, because readers
// find them in the reference step, at the same positions (tools/model/repeats/matching_blocks.h).
//
// The allocations of a step form sequences: one with the host blocks of the step thread (the thread that called
// BeginFollowedStep), and one for each CUDA device. After each allocation, a hash identifies all allocations of its
// sequence since the step mark: their requested sizes and streams, in order. This hash is called a number. A table
// counts in how many steps with operators each number occurred; counts stop at kTimesInFull (reference_numbers.h).
//
//     step mark ─► allocations a, b, c of the step thread:   numbers of a ─ ab ─ abc
//                  allocations d, e of a CUDA device:        numbers of d ─ de
//     step mark ─► a number that combines the last number of each sequence
//
// A step repeats if each of its numbers was counted kTimesInFull times, and deviates at the first number for which this
// is not true. Frees are not part of the numbers. Neither are host blocks of other threads, because their order is
// random.
//
// When a step ends, Memoir looks for the last earlier step with the same allocations, and expects that the step after
// it follows again. If the expected step has no reference step yet, the next step is recorded with operators from its
// begin on.
//
// Some steps deviate now and then: for example, every tenth step writes a log. Such a step begins without operators, so
// it would never become a reference step. So after two deviations Memoir expects the third at the same distance, and
// records that step with operators from its begin on.
//
// One table for each process, of fixed size. When the table is full, no further step becomes a reference step, and all
// steps are recorded without operators.
//
// Threads: only the session calls BeginRepeatedSteps and EndRepeatedSteps. Any thread may call the other functions,
// which take no lock and do not allocate.
#ifndef TRACKER_REPEATED_STEPS_REPEATED_STEPS_H_
#define TRACKER_REPEATED_STEPS_REPEATED_STEPS_H_

#include <atomic>
#include <cstdint>

#include "tracker/repeated_steps/reference_numbers.h"

namespace memoir {

inline constexpr std::uint32_t kTimesInFull = reference_numbers::kMostCounted;
inline constexpr std::uint64_t kMostReferenceAllocations = reference_numbers::kMostNumbers;

// Starts to follow allocations, until EndRepeatedSteps. `deviates` is called when a step that was expected to repeat
// deviates. The call happens inside of the allocation that differs, under the allocator's lock. False: there is no
// memory for the table (12 MiB).
bool BeginRepeatedSteps(void (*deviates)()) noexcept;
void EndRepeatedSteps() noexcept;

// Forgets all reference steps, so that the next steps are recorded in full. Call it between two steps, when a new part
// begins. A part must be readable without older parts, because these may be evicted.
void ForgetReferenceSteps() noexcept;

// Ends a step and begins the next one. `thread` is the calling thread's number in the ring; from now on it is the step
// thread, whose host blocks count. Returns true if operators need not be recorded in the new step. `in_full`: true if
// the caller will record all operators of the new step unless the function returns true. Only a step that is recorded
// with all its operators can become a reference step.
bool BeginFollowedStep(std::uint32_t thread, bool in_full) noexcept;

// Call it if the level changes for a reason other than repeated steps. The current step then counts neither as a
// reference step nor as a repeated step.
void IgnoreFollowedStep() noexcept;

// Returns true if the table is full.
bool ReferenceStepsAreFull() noexcept;

// If StepsAreFollowed(), a hook calls the function for its kind of block before it records an allocation.
namespace repeated_steps {
extern constinit std::atomic<bool> followed;  // true from BeginRepeatedSteps until EndRepeatedSteps
void FollowHostBlock(std::uint32_t thread, std::uint8_t device_type, std::uint64_t bytes) noexcept;
void FollowDeviceBlock(std::int8_t device_index, std::uint64_t requested, std::uint64_t stream) noexcept;
}  // namespace repeated_steps
inline bool StepsAreFollowed() { return repeated_steps::followed.load(std::memory_order_relaxed); }

}  // namespace memoir

#endif  // TRACKER_REPEATED_STEPS_REPEATED_STEPS_H_
