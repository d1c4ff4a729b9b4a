// Visits the events that pattern rows represent (docs/capture_format.md, "Stretches"). replay_handlers.def maps the
// kinds of these events to the functions of this class.
#ifndef TOOLS_MODEL_REPLAY_PATTERN_ROW_EVENTS_H_
#define TOOLS_MODEL_REPLAY_PATTERN_ROW_EVENTS_H_

#include <cstdint>

#include "tools/model/repeats/pattern_row_cursor.h"
#include "tools/model/replay/replay_handlers.h"

namespace memoir {

class PatternRowEvents {
 public:
  explicit PatternRowEvents(ReplayHandlers& handlers)
      : shared_(handlers.shared),
        ranges_(handlers.ranges),
        allocator_(handlers.allocator),
        python_(handlers.python),
        steps_(handlers.steps) {}

  // Visits the current event of `cursor`.
  void Show(PatternRowCursor& cursor);

 private:
  void ShowKind(ThreadReplay& thread, const PatternRowCursor& cursor);
  void ShowStep(ThreadReplay& thread, const PatternRowCursor& cursor);
  void ShowStack(ThreadReplay& thread, const PatternRowCursor& cursor);
  void ShowAllocate(ThreadReplay& thread, const PatternRowCursor& cursor);
  void ShowDeallocate(ThreadReplay& thread, const PatternRowCursor& cursor);
  void ShowFreeCompleted(ThreadReplay& thread, const PatternRowCursor& cursor);
  static void NeverInPattern(ThreadReplay&, const PatternRowCursor&) {}  // ParseStepPattern rejects these kinds

  SharedReplayState& shared_;
  RangeEvents& ranges_;
  AllocatorEvents& allocator_;
  PythonEvents& python_;
  StepEvents& steps_;
  std::uint64_t unknown_serials_ = 0;  // number of host blocks with unknown serial that were visited so far
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_PATTERN_ROW_EVENTS_H_
