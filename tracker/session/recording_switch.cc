#include "tracker/session/recording_switch.h"

#include <new>

#include "interpose/tick.h"
#include "tracker/torch/hooks.h"

namespace memoir {

void RecordingSwitch::Begin(RecordingLevel level) {
  const std::lock_guard lock(mutex_);
  ForgetCudaBlocks();
  SetRecordingLevel(RecordingLevel::kAll);
  EnableRangeHook(true);
  level_.store(RecordingLevel::kAll, std::memory_order_release);
  active_.store(true, std::memory_order_release);
  Switch(level, OnEmptyPool::kWait);
  if (level_.load(std::memory_order_relaxed) != RecordingLevel::kOff) FindCudaBlocks();
}

void RecordingSwitch::End() {
  active_.store(false, std::memory_order_release);
  SetRecordingLevel(RecordingLevel::kOff);  // first: ends the wait of whoever holds the lock
  const std::lock_guard lock(mutex_);
  SetRecordingLevel(RecordingLevel::kOff);
  EnableRangeHook(false);
}

bool RecordingSwitch::To(RecordingLevel level, OnEmptyPool on_empty) {
  const std::lock_guard lock(mutex_);
  return Switch(level, on_empty);
}

bool RecordingSwitch::TryTo(RecordingLevel level) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  return lock.owns_lock() && Switch(level, OnEmptyPool::kDrop);
}

// Under the lock.
bool RecordingSwitch::Switch(RecordingLevel level, OnEmptyPool on_empty) {
  if (!active()) return false;
  const RecordingLevel before = level_.load(std::memory_order_relaxed);
  if (level == before) return true;
  if (!(level < before ? GoDown(level, on_empty) : GoUp(level, on_empty))) return false;
  level_.store(level, std::memory_order_release);
  return true;
}

// The place is taken while the flag is on, and the tick read after it is off: the record stands behind what was
// recorded.
bool RecordingSwitch::GoDown(RecordingLevel level, OnEmptyPool on_empty) {
  ThreadSlot* slot = RingThread();
  std::uint8_t* place = slot == nullptr ? nullptr : RingReserve(slot, sizeof(SwitchRecord), on_empty);
  if (place == nullptr) return false;
  SetRecordingLevel(level);
  Commit(slot, place, level, Tick());
  if (level_.load(std::memory_order_relaxed) == RecordingLevel::kAll) EnableRangeHook(false);
  return true;
}

// The tick is read before the flag is on: the record stands before what is recorded.
bool RecordingSwitch::GoUp(RecordingLevel level, OnEmptyPool on_empty) {
  const bool was_off = level_.load(std::memory_order_relaxed) == RecordingLevel::kOff;
  if (was_off) ForgetCudaBlocks();
  const std::uint64_t tick = Tick();
  SetRecordingLevel(level);
  ThreadSlot* slot = RingThread();
  std::uint8_t* place = slot == nullptr ? nullptr : RingReserve(slot, sizeof(SwitchRecord), on_empty);
  if (place == nullptr) {
    SetRecordingLevel(level_.load(std::memory_order_relaxed));
    return false;
  }
  Commit(slot, place, level, tick);
  if (was_off) FindCudaBlocks();
  if (level == RecordingLevel::kAll) EnableRangeHook(true);
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
