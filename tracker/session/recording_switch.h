// How much this process records now, and the switching of it: off, memory alone, everything.
//
// Each switch puts a record into the ring, so that readers know (docs/decisions/0006). Of one recording: Begin and End
// frame it. Any thread, but no signal handler.
#ifndef TRACKER_SESSION_RECORDING_SWITCH_H_
#define TRACKER_SESSION_RECORDING_SWITCH_H_

#include <atomic>
#include <mutex>

#include "interpose/ring.h"

namespace memoir {

class RecordingSwitch {
 public:
  // The ring is open and the hooks are in place. Below kAll the recording begins with a pause.
  void Begin(RecordingLevel level);
  // Everything off, for good: later switches do nothing. Writes no record. GiveUp is for the writer's thread: it clears
  // the flags that hooks read, and neither allocates, waits nor calls torch.
  void End();
  void GiveUp() noexcept;

  // False when nothing is recorded any more, or when there is no room for the record (`on_empty`: whether to wait for
  // some); then nothing has changed.
  bool To(RecordingLevel level, OnEmptyPool on_empty);
  // As To with kDrop, but false instead of waiting where another thread switches now: for the writer's thread, for
  // which that other may be waiting. What torch has to be asked for is left to threads of the program's.
  bool TryTo(RecordingLevel level);

  // Between Begin and End; a recording that is switched off is one still.
  bool active() const { return active_.load(std::memory_order_acquire); }
  RecordingLevel level() const { return level_.load(std::memory_order_acquire); }

 private:
  enum class Caller { kProgram, kWriter };
  bool Switch(RecordingLevel level, OnEmptyPool on_empty, Caller caller);
  bool GoDown(RecordingLevel level, OnEmptyPool on_empty, Caller caller);
  bool GoUp(RecordingLevel level, OnEmptyPool on_empty, Caller caller);
  void HideRanges(Caller caller);
  void FindBlocks(RecordingLevel level, Caller caller);
  void SetFlags(RecordingLevel level);
  void Commit(ThreadSlot* slot, std::uint8_t* place, RecordingLevel level, std::uint64_t tick);

  std::mutex mutex_;
  std::atomic<bool> active_{false};
  std::atomic<RecordingLevel> level_{RecordingLevel::kOff};
};

}  // namespace memoir

#endif  // TRACKER_SESSION_RECORDING_SWITCH_H_
