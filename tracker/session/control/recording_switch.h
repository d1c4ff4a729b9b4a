// Holds the level at which this process records (off, memory alone, everything), and switches the level.
//
// Each switch writes a record into the ring, from which readers determine the level
// (docs/decisions/0006-off-and-on.md). The object serves one recording, between Begin and End. Any thread, but not in a
// signal handler.
#ifndef TRACKER_SESSION_CONTROL_RECORDING_SWITCH_H_
#define TRACKER_SESSION_CONTROL_RECORDING_SWITCH_H_

#include <atomic>
#include <mutex>

#include "interpose/ring/ring.h"

namespace memoir {

class RecordingSwitch {
 public:
  // Starts to record at `level`. The ring must be open, and the hooks must be installed. If `level` is below kAll, the
  // recording begins with a pause.
  void Begin(RecordingLevel level);
  // End and GiveUp switch recording off for good, without a record; later switches do nothing. End waits for a thread
  // that is switching now. If that thread does not finish, End prints a line. GiveUp is for the writer's thread and for
  // the end of the process. It clears the flags that hooks read, and does not allocate, wait or call torch.
  void End();
  void GiveUp() noexcept;

  // Switches to `level`. `on_empty`: whether to wait for room in the ring. False, with nothing changed, if the
  // recording has ended or the ring has no room for the record.
  bool SwitchTo(RecordingLevel level, OnEmptyPool on_empty);
  // Like SwitchTo with kDrop, but returns false if another thread is switching. It is for callers that must not wait:
  // the writer's thread, because the other thread may be waiting for the writer, and hooks that run inside of an
  // allocation (RecordingControls::NoteDeviation). Some functions of torch may be called only on threads of the program
  // (tracker/torch/hooks.h). The range hook calls these functions at the next range of such a thread.
  bool TrySwitchTo(RecordingLevel level);

  // True between Begin and End, also while the recording is switched off.
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

#endif  // TRACKER_SESSION_CONTROL_RECORDING_SWITCH_H_
