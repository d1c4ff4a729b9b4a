#include "tracker/writer/event_kinds.h"

namespace memoir {
namespace {

EventKind BeginKind(std::uint8_t flags) {
  return static_cast<EventKind>((flags & kRangeSourceMask) + static_cast<int>(EventKind::kRangeBeginFunction));
}

EventKind SegmentKind(std::uint8_t flags) {
  if (flags == static_cast<std::uint8_t>(SegmentAction::kFound)) return EventKind::kSegmentFound;
  return static_cast<EventKind>((flags & 3) + static_cast<int>(EventKind::kSegmentAllocate));
}

EventKind HoldsKind(std::uint8_t flags) {
  switch (static_cast<HolderKind>(flags)) {
    case HolderKind::kModule:
      return EventKind::kModuleHolds;
    case HolderKind::kOptimizer:
      return EventKind::kOptimizerHolds;
    case HolderKind::kGradient:
      return EventKind::kGradientOf;
    default:
      return EventKind::kHoldsMore;
  }
}

}  // namespace

EventKind EventKindOf(RecordKind kind, std::uint8_t flags) {
  switch (kind) {
    case RecordKind::kRangeBegin:
      return BeginKind(flags);
    case RecordKind::kRangeEnd:
      return EventKind::kRangeEnd;
    case RecordKind::kAllocate:
      return EventKind::kAllocate;
    case RecordKind::kDeallocate:
      return EventKind::kDeallocate;
    case RecordKind::kMark:
      return EventKind::kMark;
    case RecordKind::kStep:
      return EventKind::kStep;
    case RecordKind::kPause:
      return EventKind::kPause;
    case RecordKind::kResume:
      return EventKind::kResume;
    case RecordKind::kHolds:
      return HoldsKind(flags);
    case RecordKind::kModuleEnter:
      return EventKind::kModuleEnter;
    case RecordKind::kModuleExit:
      return EventKind::kModuleExit;
    case RecordKind::kBlockAllocate:
      return EventKind::kBlockAllocate;
    case RecordKind::kBlockFound:
      return EventKind::kBlockFound;
    case RecordKind::kBlockFreeCompleted:
      return EventKind::kDeallocateCompleted;
    case RecordKind::kSegment:
      return SegmentKind(flags);
    case RecordKind::kOutOfMemory:
      return EventKind::kOutOfMemory;
    case RecordKind::kDeviceStatistics:
      return EventKind::kDeviceStatistics;
    case RecordKind::kDriverAllocate:
      return EventKind::kDriverAllocate;
    case RecordKind::kDriverFree:
      return EventKind::kDriverFree;
    case RecordKind::kDriverRefused:
      return EventKind::kDriverRefused;
    case RecordKind::kDeviceReading:
      return EventKind::kDeviceReading;
    default:
      return EventKind::kUnknown;
  }
}

}  // namespace memoir
