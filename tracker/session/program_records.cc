#include "tracker/session/program_records.h"

#include <cstring>
#include <new>

#include "interpose/ring.h"
#include "interpose/tick.h"

namespace memoir {
namespace {

ThreadSlot* Slot() { return RecordingEnabled() ? RingThread() : nullptr; }

}  // namespace

void RecordMark(const char* text) {
  ThreadSlot* slot = Slot();
  if (slot == nullptr) return;
  const std::size_t length = strnlen(text, kMaxInlineName);
  const std::size_t bytes = sizeof(MarkRecord) + ((length + 7) & ~std::size_t{7});
  std::uint8_t* place = RingReserve(slot, bytes, OnEmptyPool::kWait);
  if (place == nullptr) return;
  auto* record = new (place) MarkRecord{};
  record->header = {.words = static_cast<std::uint16_t>(bytes / 8),
                    .kind = RecordKind::kMark,
                    .flags = 0,
                    .depth = RingDepth(slot),
                    .count = 0};
  record->tick = Tick();
  record->length = length;
  std::memcpy(place + sizeof(MarkRecord), text, length);
  RingCommit(slot, bytes);
}

void RecordStep(std::uint64_t step) {
  ThreadSlot* slot = Slot();
  if (slot == nullptr) return;
  std::uint8_t* place = RingReserve(slot, sizeof(StepRecord), OnEmptyPool::kWait);
  if (place == nullptr) return;
  auto* record = new (place) StepRecord{};
  record->header = {
      .words = sizeof(StepRecord) / 8, .kind = RecordKind::kStep, .flags = 0, .depth = RingDepth(slot), .count = 0};
  record->tick = Tick();
  record->step = step;
  RingCommit(slot, sizeof(StepRecord));
}

}  // namespace memoir
