// The layout of Python frames, and the innermost frame of the calling thread. Memoir reads frames in place, which is
// safe because a thread's frames do not change while the thread runs a function of Memoir. Reading needs no GIL, and
// calls no function of Python except for the look-up of the thread's state. The Python package passes the layouts of
// the versions that it supports (python/_torch_memoir/_frames.py); without a layout nothing is read. Any thread.
#ifndef TRACKER_MODULES_PYTHON_FRAMES_H_
#define TRACKER_MODULES_PYTHON_FRAMES_H_

#include <atomic>

#include "tracker/memoir_python.h"
#include "tracker/stacks/python_object.h"

namespace memoir {

// The layout of the interpreter's frames; nullptr if frames are not read. A layout is never freed, because a thread may
// be using it.
extern constinit std::atomic<const memoir_python_frames*> python_frames;

// Sets the layout; nullptr: frames are not read. Call it on the thread that starts a recording, or with the GIL held.
void SetPythonFrames(const memoir_python_frames* frames);

// Returns the innermost frame. nullptr if the thread has no frame, or is unknown to Python.
inline const char* InnermostFrame(const memoir_python_frames& frames) {
  const char* state = static_cast<const char*>(frames.thread_state());
  if (state == nullptr) return nullptr;
  const char* frame = PointerAt(state, frames.frame);
  return frame == nullptr || frames.through < 0 ? frame : PointerAt(frame, frames.through);
}

}  // namespace memoir

#endif  // TRACKER_MODULES_PYTHON_FRAMES_H_
