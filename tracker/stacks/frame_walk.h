// Visits the Python frames of the calling thread, innermost first. The frames do not change while their thread is in a
// C call. The functions read the thread's state and its frames in place. They take no GIL and no lock, and change no
// reference count. Any thread.
#ifndef TRACKER_STACKS_FRAME_WALK_H_
#define TRACKER_STACKS_FRAME_WALK_H_

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "tracker/stacks/frame_layout.h"
#include "tracker/stacks/python_object.h"

namespace memoir {

inline constexpr std::size_t kMostFrames = 1024;  // the outermost frames beyond this number are left out

struct FramePosition {
  const char* code;
  std::uint32_t instruction;  // byte offset from the first instruction of `code`
  bool operator==(const FramePosition&) const = default;
};

// Returns the innermost entry in the thread's list of frames: the frame of a function, or an entry between the frames
// of two interpreter loops. HoldsNoFunction distinguishes the two. nullptr if the thread has no frame.
inline const char* InnermostOfThread(const FrameLayout& layout) {
  const auto* frame = static_cast<const char*>(layout.thread_state());
  if (frame != nullptr) frame = PointerAt(frame, layout.frame);
  return frame == nullptr || layout.through < 0 ? frame : PointerAt(frame, layout.through);
}

// Returns the first of `frame` and its callers that runs a Python function. nullptr if there is no such frame.
inline const char* NearestFunctionFrame(const FrameLayout& layout, const char* frame) {
  while (frame != nullptr && HoldsNoFunction(frame, layout.owner)) frame = PointerAt(frame, layout.previous);
  return frame;
}

inline const char* CodeOfFrame(const FrameLayout& layout, const char* frame) { return ObjectAt(frame, layout.code); }

// Calls `take` with the FramePosition of each frame, for at most kMostFrames frames. Returns true if no frame was left
// out.
template <class Take>
bool WalkFrames(const FrameLayout& layout, Take take) {
  constexpr int kMostSteps = 4096;  // maximum number of entries in the list: frames, and entries between frames
  const char* frame = InnermostOfThread(layout);
  std::size_t count = 0;
  for (int step = 0; frame != nullptr; frame = PointerAt(frame, layout.previous)) {
    if (++step > kMostSteps) return false;
    if (HoldsNoFunction(frame, layout.owner)) continue;
    if (count++ == kMostFrames) return false;
    FramePosition found{CodeOfFrame(layout, frame), 0};
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
