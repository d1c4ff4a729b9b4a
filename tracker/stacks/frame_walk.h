// The frames of the calling thread's interpreter, innermost first: they stand still while their thread is in a C call.
// Reads the thread's state and its frames in place; takes no GIL, no lock, and touches no reference count. Any thread.
#ifndef TRACKER_STACKS_FRAME_WALK_H_
#define TRACKER_STACKS_FRAME_WALK_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tracker/stacks/frame_layout.h"

namespace memoir {

inline constexpr std::size_t kMostFrames = 1024;  // further out they are cut

struct FrameAt {
  const char* code;
  std::uint32_t instruction;  // bytes from the code's first one
  bool operator==(const FrameAt&) const = default;
};

// Gives each frame to `take`, at most kMostFrames. Returns whether that was all of them.
template <class Take>
bool WalkFrames(const FrameLayout& layout, Take take) {
  constexpr int kMostSteps = 4096;  // of frames, and of what stands between them
  const auto pointer = [](const char* object, int offset) {
    const char* found;
    std::memcpy(static_cast<void*>(&found), object + offset, sizeof found);
    return found;
  };
  const auto* frame = static_cast<const char*>(layout.thread_state());
  if (frame != nullptr) frame = pointer(frame, layout.frame);
  if (frame != nullptr && layout.through >= 0) frame = pointer(frame, layout.through);
  std::size_t count = 0;
  for (int step = 0; frame != nullptr; frame = pointer(frame, layout.previous)) {
    constexpr char kOwnedByC = 3;  // or by the loop that runs frames: it holds no function
    if (++step > kMostSteps) return false;
    if (layout.owner >= 0 && frame[layout.owner] >= kOwnedByC) continue;
    if (count++ == kMostFrames) return false;
    constexpr std::uintptr_t kTags = 7;
    const auto code = reinterpret_cast<std::uintptr_t>(pointer(frame, layout.code)) & ~kTags;
    FrameAt found{reinterpret_cast<const char*>(code), 0};
    if (layout.instructions == 0) {
      std::memcpy(&found.instruction, frame + layout.instruction, sizeof found.instruction);
      found.instruction *= 2;
    } else {
      const auto at = reinterpret_cast<std::uintptr_t>(pointer(frame, layout.instruction));
      found.instruction = static_cast<std::uint32_t>(at - code) - static_cast<std::uint32_t>(layout.instructions);
    }
    take(found);
  }
  return true;
}

}  // namespace memoir

#endif  // TRACKER_STACKS_FRAME_WALK_H_
