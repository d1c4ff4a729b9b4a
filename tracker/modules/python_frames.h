// The frames of the calling thread's interpreter, read in place: they stand still while their thread is here. Needs no
// GIL, and calls nothing of Python's but the look-up of the thread's state. Layouts come from the Python package, for
// the versions that it knows (python/memoir/_frames.py); without one nothing is read. Any thread.
#ifndef TRACKER_MODULES_PYTHON_FRAMES_H_
#define TRACKER_MODULES_PYTHON_FRAMES_H_

#include <atomic>

#include "tracker/memoir_python.h"
#include "tracker/stacks/python_object.h"

namespace memoir {

// Of the interpreter; nullptr: frames are not looked at. Never freed: a thread may just look by it.
extern constinit std::atomic<const memoir_python_frames*> python_frames;

// nullptr: none. For who starts a recording, or holds the GIL meanwhile.
void SetPythonFrames(const memoir_python_frames* frames);

// nullptr: the thread is in none, or Python does not know it.
inline const char* InnermostFrame(const memoir_python_frames& frames) {
  const char* state = static_cast<const char*>(frames.thread_state());
  if (state == nullptr) return nullptr;
  const char* frame = PointerAt(state, frames.frame);
  return frame == nullptr || frames.through < 0 ? frame : PointerAt(frame, frames.through);
}

}  // namespace memoir

#endif  // TRACKER_MODULES_PYTHON_FRAMES_H_
