// Records the Python stack of the calling thread where it is not what the thread recorded last: what the hooks on
// allocations and operators do before a record of their own.
//
// Any thread, under an allocator's lock too: without the GIL, and but for code that was never seen without a lock
// (code_table.h).
#ifndef TRACKER_STACKS_STACK_RECORDER_H_
#define TRACKER_STACKS_STACK_RECORDER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/ring.h"
#include "tracker/stacks/frame_layout.h"

namespace memoir {

// nullptr: no stacks are recorded.
extern constinit std::atomic<const FrameLayout*> stack_layout;

// Before each recording, while recording is off. `native`: native frames as well.
void PrepareStacks(bool wanted, bool native);
inline bool StacksAreRecorded() { return stack_layout.load(std::memory_order_relaxed) != nullptr; }
// Why they are not although they are wanted, in one line; "": they are, or there is no Python. And since which tick.
const char* StacksProblem();
const char* NativeFramesProblem();  // likewise
std::uint64_t StacksSince();

// `room`: bytes of the record that follows, which is to lie in the same segment, as far as that can be known. errno is
// the caller's to keep.
void RecordStackHere(const FrameLayout& layout, ThreadSlot* slot, std::size_t room, OnEmptyPool on_empty);

inline void RecordStack(ThreadSlot* slot, std::size_t room, OnEmptyPool on_empty) {
  if (const FrameLayout* layout = stack_layout.load(std::memory_order_acquire); layout != nullptr)
    RecordStackHere(*layout, slot, room, on_empty);
}

}  // namespace memoir

#endif  // TRACKER_STACKS_STACK_RECORDER_H_
