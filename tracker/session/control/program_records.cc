#include "tracker/session/control/program_records.h"

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <new>

#include "interpose/ring/ring.h"
#include "interpose/system/tick.h"

namespace memoir {
namespace {

constexpr char kRequestMark[] = "memoir.steps_in_full ";

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

void RecordRequestBegin(std::uint64_t steps, std::optional<std::uint64_t> first) {
  char text[80];
  const int length = std::snprintf(text, sizeof text, "%s%" PRIu64, kRequestMark, steps);
  if (first) std::snprintf(text + length, sizeof text - static_cast<std::size_t>(length), " %" PRIu64, *first);
  RecordMark(text);
}

void RecordRequestEnd() { RecordRequestBegin(0, std::nullopt); }

}  // namespace memoir
