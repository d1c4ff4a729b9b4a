#include "tracker/session/recording_switch.h"

#include <new>

#include "interpose/tick.h"
#include "tracker/cupti/kernel_times.h"
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
  SetRecordingLevel(RecordingLevel::kOff);  // first: ends the wait of whoever holds the lock
  const std::lock_guard lock(mutex_);
  SetRecordingLevel(RecordingLevel::kOff);
  EnableRangeHook(false);
}

void RecordingSwitch::GiveUp() noexcept {
  active_.store(false, std::memory_order_seq_cst);
  SetRecordingLevel(RecordingLevel::kOff);
  LetRangeHookLeave();
}

// Whoever switches on while the writer gives up has seen that, or the writer comes after them and switches off.
void RecordingSwitch::SetFlags(RecordingLevel level) {
  SetRecordingLevel(level);
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (active()) return;
  SetRecordingLevel(RecordingLevel::kOff);
  LetRangeHookLeave();
}

bool RecordingSwitch::To(RecordingLevel level, OnEmptyPool on_empty) {
  const std::lock_guard lock(mutex_);
  return Switch(level, on_empty, Caller::kProgram);
}

bool RecordingSwitch::TryTo(RecordingLevel level) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock.owns_lock() && Switch(level, OnEmptyPool::kDrop, Caller::kWriter);
}

// Under the lock.
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
    LetRangeHookLeave();
  }
}

// What was live while recording was off. The hook on ranges that is not wanted stays for one range, which looks.
void RecordingSwitch::FindBlocks(RecordingLevel level, Caller caller) {
  if (caller == Caller::kProgram) return FindCudaBlocks();
  FindCudaBlocksSoon();
  if (level != RecordingLevel::kAll) LetRangeHookLeave();
}

// The place is taken while the flag is on, and the tick read after it is off: the record stands behind what was
// recorded.
bool RecordingSwitch::GoDown(RecordingLevel level, OnEmptyPool on_empty, Caller caller) {
  // What has run by now is of the recording. The writer, which makes the room for it, cannot wait for room.
  if (level == RecordingLevel::kOff && caller == Caller::kProgram) FlushKernelTimes();
  ThreadSlot* slot = RingThread();
  std::uint8_t* place = slot == nullptr ? nullptr : RingReserve(slot, sizeof(SwitchRecord), on_empty);
  if (place == nullptr) return false;
  SetFlags(level);
  Commit(slot, place, level, Tick());
  if (level_.load(std::memory_order_relaxed) == RecordingLevel::kAll) HideRanges(caller);
  return true;
}

// The hook is there before the flag is on, and the tick is read before that: the record stands before what is
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
