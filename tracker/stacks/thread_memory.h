// Memory of the hooks' own for each ring slot that was ever used: addresses, of which only touched pages take memory.
// Kept for the slot's next thread, since late hooks may still look at it, and unmapped with the ring.
#ifndef TRACKER_STACKS_THREAD_MEMORY_H_
#define TRACKER_STACKS_THREAD_MEMORY_H_

#include <cstddef>

#include "interpose/ring.h"

namespace memoir {

// Who has which part of it.
inline constexpr std::size_t kRangesBytes = 64 * 1024;  // tracker/torch/open_ranges.h
inline constexpr std::size_t kStackBytes = 128 * 1024;  // stack_recorder.cc
inline constexpr std::size_t kCallsBytes = 64 * 1024;   // open_calls.cc

// All zeros at first; nullptr where there is none to be had. The slot's own thread.
void* MapThreadMemory(ThreadSlot* slot);
inline char* ThreadMemory(ThreadSlot* slot) {
  void* memory = reinterpret_cast<void*>(slot->scratch);
  return static_cast<char*>(memory != nullptr ? memory : MapThreadMemory(slot));
}

}  // namespace memoir

#endif  // TRACKER_STACKS_THREAD_MEMORY_H_
