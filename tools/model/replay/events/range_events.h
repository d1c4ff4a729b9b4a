// Visits the begins and ends of ranges. Opens and closes the ranges of each thread, as its events and keyframes show,
// and closes ranges whose end was lost.
#ifndef TOOLS_MODEL_REPLAY_EVENTS_RANGE_EVENTS_H_
#define TOOLS_MODEL_REPLAY_EVENTS_RANGE_EVENTS_H_

#include <cstddef>
#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "tools/model/replay/state/shared_replay_state.h"

namespace memoir {

class RangeEvents {
 public:
  explicit RangeEvents(SharedReplayState& shared) : shared_(shared) {}

  template <RangeSource source>
  void ShowBegin(ThreadReplay& thread, RunCursor& cursor) {
    ShowBegin(thread, cursor, source);
  }
  void ShowEnd(ThreadReplay& thread, RunCursor& cursor);

  // Opens `range`, and passes `event` to the visitor as its begin. Leaves event.range nullptr if the thread has too
  // many open ranges.
  void Push(ThreadReplay& thread, OpenRange& range, RangeBeginEvent& event);
  // Passes `event` to the visitor as the end of the thread's innermost open range, and closes the range.
  void Pop(ThreadReplay& thread, RangeEndEvent& event) {
    event.range = thread.innermost();
    event.stack = &thread.stack();
    shared_.context.visitor().OnRangeEnd(event);
    thread.Pop();
  }
  // Closes ranges whose end was lost, or opens unknown ranges, until `depth` ranges are open.
  void SetDepth(ThreadReplay& thread, std::size_t depth, Tick tick);
  // Closes all ranges and module calls of all threads but `except`.
  void CloseAll(const absl::flat_hash_set<ThreadId>& except, Tick tick);
  // Restores the open ranges of a keyframe.
  void ApplyKeyframe(const v1::Keyframe& keyframe);

 private:
  void ShowBegin(ThreadReplay& thread, RunCursor& cursor, RangeSource source);
  void Restore(const v1::OpenRanges& open, std::size_t at, ThreadReplay& thread);

  SharedReplayState& shared_;
  std::uint64_t calls_ = 0;  // number of ranges that were opened so far
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_EVENTS_RANGE_EVENTS_H_
