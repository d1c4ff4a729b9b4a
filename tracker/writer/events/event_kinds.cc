#include "tracker/writer/events/event_kinds.h"

#include <array>
#include <cstddef>

namespace memoir {
namespace {

constexpr int Any = -1;
constexpr std::size_t kVariants = 8, kRecordKinds = 64;

// Returns the flags that determine the kind of event, for kinds of records that represent several kinds of events.
constexpr std::uint8_t VariantMask(RecordKind kind) {
  switch (kind) {
    case RecordKind::kRangeBegin:
      return kRangeSourceMask;
    case RecordKind::kSegment:
    case RecordKind::kHolds:
      return kVariants - 1;
    default:
      return 0;
  }
}

struct Row {
  RecordKind record;
  int variant;
  EventKind event;
};
constexpr Row kRows[] = {
#define MEMOIR_EVENT(Name, NAME, number, Record, variant, columns) {RecordKind::k##Record, variant, EventKind::k##Name},
#include "proto/memoir/events.def"
};

constexpr auto kEvents = [] {
  std::array<std::array<EventKind, kVariants>, kRecordKinds> events{};
  for (const Row& row : kRows) {
    const auto record = static_cast<std::size_t>(row.record);
    events[record][row.variant == Any ? 0 : static_cast<std::size_t>(row.variant)] = row.event;
  }
  return events;
}();

}  // namespace

EventKind EventKindOf(RecordKind kind, std::uint8_t flags) {
  const auto record = static_cast<std::size_t>(kind);
  return record < kRecordKinds ? kEvents[record][flags & VariantMask(kind)] : EventKind::kUnknown;
}

}  // namespace memoir
