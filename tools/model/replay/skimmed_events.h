// Skips events of chunks that a replay skims, for a reader that follows a recording while it is written and may use
// only its share of a processor (tools/follow). The visitor sees what a recording at the level memory contains: blocks,
// segments, steps and module calls, without surrounding ranges, operators, stacks and kernels.
//
// User ranges are visited without length, at their begin, because their names show steps. So a step that an optimizer
// ends is found at the begin of the optimizer's range.
#ifndef TOOLS_MODEL_REPLAY_SKIMMED_EVENTS_H_
#define TOOLS_MODEL_REPLAY_SKIMMED_EVENTS_H_

#include "tools/model/replay/events/range_events.h"
#include "tools/model/replay/state/shared_replay_state.h"

namespace memoir {

class SkimmedEvents {
 public:
  SkimmedEvents(SharedReplayState& shared, RangeEvents& ranges)
      : context_(shared.context), visibility_(shared.visibility), ranges_(ranges) {}

  bool skims() const { return skims_; }  // the newest chunk is Chunk::memory_alone
  // Begins to skim with the next chunk if `skims` is true; otherwise stops. Call it after all events of earlier chunks
  // have been visited.
  void Switch(bool skims);

  // The following functions take the current event of a skimmed chunk. They return true if the event is skipped. They
  // advance only columns that visited events also use.
  static bool Visit(ThreadReplay&, RunCursor&) { return false; }
  static bool Skip(ThreadReplay&, RunCursor&) { return true; }
  static bool SkipRangeBegin(ThreadReplay&, RunCursor& cursor);
  static bool SkipModuleHolds(ThreadReplay&, RunCursor& cursor);
  static bool SkipLaunch(ThreadReplay&, RunCursor& cursor);
  static bool SkipDeviceCall(ThreadReplay&, RunCursor& cursor);
  static bool SkipKernelRun(ThreadReplay&, RunCursor& cursor);
  // Visits the range without length.
  bool ShowUserRange(ThreadReplay& thread, RunCursor& cursor);

 private:
  ReplayContext& context_;
  OperatorVisibility& visibility_;
  RangeEvents& ranges_;
  bool skims_ = false;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_SKIMMED_EVENTS_H_
