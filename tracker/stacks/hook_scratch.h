// Scratch memory of the hooks: one mapping for each thread's slot of the ring. The memory is mapped when the slot first
// needs it; pages that are not written use no memory. It is kept for the next thread of the slot, because late hooks
// may still read it. It is unmapped when the ring is unmapped.
#ifndef TRACKER_STACKS_HOOK_SCRATCH_H_
#define TRACKER_STACKS_HOOK_SCRATCH_H_

#include <cstddef>

#include "interpose/ring/ring.h"

namespace memoir {

// Bytes of each part of the scratch memory, with the file that uses the part.
inline constexpr std::size_t kRangesBytes = 64 * 1024;  // tracker/torch/ranges/open_ranges.h
inline constexpr std::size_t kStackBytes = 128 * 1024;  // stack_recorder.cc
inline constexpr std::size_t kCallsBytes = 64 * 1024;   // open_calls.cc

// Maps zeroed scratch memory for the slot, and returns it; nullptr if the system has no memory.
void* MapHookScratch(ThreadSlot* slot);
// Returns the scratch memory of the slot, which the first call maps; nullptr if the system has no memory. Called by the
// thread to which the slot belongs.
inline char* HookScratch(ThreadSlot* slot) {
  void* memory = reinterpret_cast<void*>(slot->scratch);
  return static_cast<char*>(memory != nullptr ? memory : MapHookScratch(slot));
}

}  // namespace memoir

#endif  // TRACKER_STACKS_HOOK_SCRATCH_H_
