#include "tracker/session/control/recording_switch.h"

#include <new>

#include "interpose/system/tick.h"
#include "tracker/cupti/kernel_times.h"
#include "tracker/session/control/short_lock.h"
#include "tracker/session/process/terminal_line.h"
#include "tracker/torch/hooks.h"

namespace memoir {

void RecordingSwitch::Begin(RecordingLevel level) {
  const std::lock_guard lock(mutex_);
  ForgetCudaBlocks();
  EnableRangeHook(true);
  SetRecordingLevel(RecordingLevel::kAll);
  level_.store(RecordingLevel::kAll, std::memory_order_release);
  active_.store(true, std::memory_order_release);
  Switch(level, OnEmptyPool::kWait, Caller::kProgram);
  if (level_.load(std::memory_order_relaxed) != RecordingLevel::kOff) FindCudaBlocks();
}

void RecordingSwitch::End() {
  active_.store(false, std::memory_order_release);
  // Switches off before it waits for the lock. If the thread that holds the lock is waiting for room in the ring, this
  // ends that wait.
  SetRecordingLevel(RecordingLevel::kOff);
  const auto lock = LockWithin(mutex_);
  SetRecordingLevel(RecordingLevel::kOff);
  if (lock.owns_lock()) return EnableRangeHook(false);
  RemoveRangeHookSoon();
  PrintLine("a thread that was switching the recording has not come back for 5 s; the recording ends without it");
}

void RecordingSwitch::GiveUp() noexcept {
  active_.store(false, std::memory_order_seq_cst);
  SetRecordingLevel(RecordingLevel::kOff);
  RemoveRangeHookSoon();
}

// Sets the flags that hooks read. The writer may give up while this thread switches recording on. Because of the fence,
// either this thread then finds that the recording has ended and switches off again, or the writer switches off later.
void RecordingSwitch::SetFlags(RecordingLevel level) {
  SetRecordingLevel(level);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (active()) return;
  SetRecordingLevel(RecordingLevel::kOff);
  RemoveRangeHookSoon();
}

bool RecordingSwitch::SwitchTo(RecordingLevel level, OnEmptyPool on_empty) {
  const std::lock_guard lock(mutex_);
  return Switch(level, on_empty, Caller::kProgram);
}

bool RecordingSwitch::TrySwitchTo(RecordingLevel level) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock.owns_lock() && Switch(level, OnEmptyPool::kDrop, Caller::kWriter);
}

// Called under the lock.
bool RecordingSwitch::Switch(RecordingLevel level, OnEmptyPool on_empty, Caller caller) {
  if (!active()) return false;
  const RecordingLevel before = level_.load(std::memory_order_relaxed);
  if (level == before) return true;
  if (!(level < before ? GoDown(level, on_empty, caller) : GoUp(level, on_empty, caller))) return false;
  level_.store(level, std::memory_order_release);
  return true;
}

void RecordingSwitch::HideRanges(Caller caller) {
  if (caller == Caller::kProgram) {
    EnableRangeHook(false);
  } else {
    RemoveRangeHookSoon();
  }
}

// Finds the blocks that are live when recording resumes. If the writer's thread resumes the recording, the program's
// next range finds the blocks, and the range hook stays enabled until then, even at a level below kAll.
void RecordingSwitch::FindBlocks(RecordingLevel level, Caller caller) {
  if (caller == Caller::kProgram) return FindCudaBlocks();
  FindCudaBlocksLater();
  if (level != RecordingLevel::kAll) RemoveRangeHookSoon();
}

// Reserves the place of the record while the flags are set, and reads the record's tick after they are cleared. So the
// record follows everything that was recorded.
bool RecordingSwitch::GoDown(RecordingLevel level, OnEmptyPool on_empty, Caller caller) {
  // Kernels that have finished still belong to the recording. The writer's thread cannot flush them, because the flush
  // may wait for room in the ring, and only the writer makes room.
  if (level == RecordingLevel::kOff && caller == Caller::kProgram) FlushKernelTimes();
  ThreadSlot* slot = RingThread();
  std::uint8_t* place = slot == nullptr ? nullptr : RingReserve(slot, sizeof(SwitchRecord), on_empty);
  if (place == nullptr) return false;
  SetFlags(level);
  Commit(slot, place, level, Tick());
  if (level_.load(std::memory_order_relaxed) == RecordingLevel::kAll) HideRanges(caller);
  return true;
}

// Adds the range hook and reads the record's tick before the flags are set. So the record precedes everything that is
// recorded.
bool RecordingSwitch::GoUp(RecordingLevel level, OnEmptyPool on_empty, Caller caller) {
  const bool was_off = level_.load(std::memory_order_relaxed) == RecordingLevel::kOff;
  const bool hook = level == RecordingLevel::kAll || (was_off && caller == Caller::kWriter);
  if (hook) EnableRangeHook(true);
  if (was_off) ForgetCudaBlocks();
  const std::uint64_t tick = Tick();
  SetFlags(level);
  ThreadSlot* slot = RingThread();
  std::uint8_t* place = slot == nullptr ? nullptr : RingReserve(slot, sizeof(SwitchRecord), on_empty);
  if (place == nullptr) {
    SetFlags(level_.load(std::memory_order_relaxed));
    if (hook) HideRanges(caller);
    return false;
  }
  Commit(slot, place, level, tick);
  if (was_off) FindBlocks(level, caller);
  return true;
}

void RecordingSwitch::Commit(ThreadSlot* slot, std::uint8_t* place, RecordingLevel level, std::uint64_t tick) {
  const RecordingLevel before = level_.load(std::memory_order_relaxed);
  auto* record = new (place) SwitchRecord{};
  record->header.words = sizeof(SwitchRecord) / 8;
  record->header.kind = level < before ? RecordKind::kPause : RecordKind::kResume;
  record->header.flags = SwitchFlags(level, before);
  record->header.depth = RingDepth(slot);
  record->tick = tick;
  RingCommit(slot, sizeof(SwitchRecord));
}

}  // namespace memoir
