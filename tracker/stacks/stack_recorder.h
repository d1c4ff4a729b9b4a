// Records the Python stack of the calling thread if it differs from the stack that the thread recorded last. The hooks
// on allocations and operators call this code before they write their own record.
//
// RecordStack may be called on any thread, also under an allocator's lock. It takes no GIL. It takes a lock only for
// code, lines and native objects that it meets for the first time (code_table.h, native_frame_reader.h).
#ifndef TRACKER_STACKS_STACK_RECORDER_H_
#define TRACKER_STACKS_STACK_RECORDER_H_

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "interpose/ring/ring.h"
#include "tracker/stacks/frame_layout.h"

namespace memoir {

// The layout of the interpreter's frames; nullptr if no stacks are recorded.
extern constinit std::atomic<const FrameLayout*> stack_layout;

// Call it before each recording, while recording is off. `wanted`: stacks are recorded. `native`: stacks also contain
// native frames.
void PrepareStacks(bool wanted, bool native);
inline bool StacksAreRecorded() { return stack_layout.load(std::memory_order_relaxed) != nullptr; }
// Returns one line with the reason why stacks that were requested are not recorded. Empty if they are recorded, or if
// the process has no Python.
const char* StacksProblem();
// Returns the reason why native frames that were requested are not recorded. Empty if they are recorded.
const char* NativeFramesProblem();
// Returns the tick of the last PrepareStacks. If StacksProblem or NativeFramesProblem returns a reason, stacks or
// native frames are missing since this tick.
std::uint64_t StacksSince();

// Records the stack. `room`: bytes of the caller's next record, which should lie in the same ring extent. The caller
// preserves errno.
void RecordStackHere(const FrameLayout& layout, ThreadSlot* slot, std::size_t room, OnEmptyPool on_empty);

inline void RecordStack(ThreadSlot* slot, std::size_t room, OnEmptyPool on_empty) {
  if (const FrameLayout* layout = stack_layout.load(std::memory_order_acquire); layout != nullptr)
    RecordStackHere(*layout, slot, room, on_empty);
}

}  // namespace memoir

#endif  // TRACKER_STACKS_STACK_RECORDER_H_
