// Skips events of chunks that a replay skims (Chunk::is_skimmed). tools/follow, which reads a recording while it is
// written, skims chunks if reading all events would cost too much processor time. The visitor then receives only events
// of memory, steps, marks, modules, the host and the recording level. It does not receive operators, stacks, calls of
// Python or CUDA, or held tensors, and blocks have no surrounding ranges.
//
// A user range of record_function is visited too, but its end follows directly after its begin. Names of such ranges
// show steps: an optimizer's step is found at the begin of the range "Optimizer.step#...".
#ifndef TOOLS_MODEL_REPLAY_SKIMMED_EVENTS_H_
#define TOOLS_MODEL_REPLAY_SKIMMED_EVENTS_H_

#include "tools/model/replay/events/range_events.h"
#include "tools/model/replay/state/shared_replay_state.h"

namespace memoir {

class SkimmedEvents {
 public:
  SkimmedEvents(SharedReplayState& shared, RangeEvents& ranges)
      : context_(shared.context), visibility_(shared.visibility), ranges_(ranges) {}

  bool skims() const { return skims_; }  // true: the newest chunk is skimmed
  // Begins to skim with the next chunk if `skims` is true; otherwise stops. Call this function after all events of
  // earlier chunks have been visited.
  void Switch(bool skims);

  // The following functions take the current event of a skimmed chunk. They return true if the event is skipped. To
  // skip an event, they advance a column only if visited events also have values in it.
  static bool Visit(ThreadReplay&, RunCursor&) { return false; }
  static bool Skip(ThreadReplay&, RunCursor&) { return true; }
  static bool SkipRangeBegin(ThreadReplay&, RunCursor& cursor);
  static bool SkipModuleHolds(ThreadReplay&, RunCursor& cursor);
  static bool SkipLaunch(ThreadReplay&, RunCursor& cursor);
  static bool SkipDeviceCall(ThreadReplay&, RunCursor& cursor);
  static bool SkipKernelRun(ThreadReplay&, RunCursor& cursor);
  // Visits the begin of a user range and, directly afterwards, its end. Returns true, because the event itself is
  // skipped.
  bool ShowUserRange(ThreadReplay& thread, RunCursor& cursor);

 private:
  ReplayContext& context_;
  OperatorVisibility& visibility_;
  RangeEvents& ranges_;
  bool skims_ = false;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_SKIMMED_EVENTS_H_
