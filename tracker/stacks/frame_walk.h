// The frames of the calling thread's interpreter, innermost first: they stand still while their thread is in a C call.
// Reads the thread's state and its frames in place; takes no GIL, no lock, and touches no reference count. Any thread.
#ifndef TRACKER_STACKS_FRAME_WALK_H_
#define TRACKER_STACKS_FRAME_WALK_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tracker/stacks/frame_layout.h"
#include "tracker/stacks/python_object.h"

namespace memoir {

inline constexpr std::size_t kMostFrames = 1024;  // further out they are cut

struct FrameAt {
  const char* code;
  std::uint32_t instruction;  // bytes from the code's first one
  bool operator==(const FrameAt&) const = default;
};

// Or what stands between two of them, where `owner` says so; nullptr: the thread is in none.
inline const char* InnermostOfThread(const FrameLayout& layout) {
  const auto* frame = static_cast<const char*>(layout.thread_state());
  if (frame != nullptr) frame = PointerAt(frame, layout.frame);
  return frame == nullptr || layout.through < 0 ? frame : PointerAt(frame, layout.through);
}

// From `frame` outwards the first that runs a function.
inline const char* SkipOthers(const FrameLayout& layout, const char* frame) {
  while (frame != nullptr && HoldsNoFunction(frame, layout.owner)) frame = PointerAt(frame, layout.previous);
  return frame;
}

inline const char* CodeOfFrame(const FrameLayout& layout, const char* frame) { return ObjectAt(frame, layout.code); }

// Gives each frame to `take`, at most kMostFrames. Returns whether that was all of them.
template <class Take>
bool WalkFrames(const FrameLayout& layout, Take take) {
  constexpr int kMostSteps = 4096;  // of frames, and of what stands between them
  const char* frame = InnermostOfThread(layout);
  std::size_t count = 0;
  for (int step = 0; frame != nullptr; frame = PointerAt(frame, layout.previous)) {
    if (++step > kMostSteps) return false;
    if (HoldsNoFunction(frame, layout.owner)) continue;
    if (count++ == kMostFrames) return false;
    FrameAt found{CodeOfFrame(layout, frame), 0};
    if (layout.instructions == 0) {
      std::memcpy(&found.instruction, frame + layout.instruction, sizeof found.instruction);
      found.instruction *= 2;
    } else {
      const auto at = reinterpret_cast<std::uintptr_t>(PointerAt(frame, layout.instruction));
      found.instruction = static_cast<std::uint32_t>(at - reinterpret_cast<std::uintptr_t>(found.code)) -
                          static_cast<std::uint32_t>(layout.instructions);
    }
    take(found);
  }
  return true;
}

}  // namespace memoir

#endif  // TRACKER_STACKS_FRAME_WALK_H_
