// Visits changes of the Python stack, and calls of Python functions.
#ifndef TOOLS_MODEL_REPLAY_EVENTS_PYTHON_EVENTS_H_
#define TOOLS_MODEL_REPLAY_EVENTS_PYTHON_EVENTS_H_

#include "tools/model/replay/state/shared_replay_state.h"

namespace memoir {

class PythonEvents {
 public:
  explicit PythonEvents(SharedReplayState& shared) : context_(shared.context) {}

  void ShowStack(ThreadReplay& thread, RunCursor& cursor);
  void ShowCallBegin(ThreadReplay& thread, RunCursor& cursor);
  void ShowCallEnd(ThreadReplay& thread, RunCursor& cursor);

  // Sets the Python stack of `thread` and visits the change. `before`: the change happened among lost events.
  void ChangeStack(ThreadReplay& thread, StackId stack, Tick tick, bool before = false);
  // Sets the Python stack with which a run begins. If it differs from the thread's last stack, events with changes of
  // the stack were lost, and the change is visited.
  void BeginWithStack(ThreadReplay& thread, StackId stack, Tick tick);

 private:
  CallEvent DecodeCall(const ThreadReplay& thread, RunCursor& cursor);

  ReplayContext& context_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_EVENTS_PYTHON_EVENTS_H_
