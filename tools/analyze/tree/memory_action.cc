#include "tools/analyze/tree/memory_action.h"

namespace memoir {

std::string_view ToString(MemoryAction action) {
  switch (action) {
    case MemoryAction::kAllocate:
      return "allocate";
    case MemoryAction::kFree:
      return "free";
    case MemoryAction::kSegmentAllocate:
      return "segment_allocate";
    case MemoryAction::kSegmentFree:
      return "segment_free";
    case MemoryAction::kSegmentMap:
      return "segment_map";
    case MemoryAction::kSegmentUnmap:
      return "segment_unmap";
    case MemoryAction::kDriverAllocate:
      return "driver_allocate";
    case MemoryAction::kDriverFree:
      return "driver_free";
    case MemoryAction::kDriverRefused:
      return "driver_refused";
    case MemoryAction::kOutOfMemory:
      return "out_of_memory";
    case MemoryAction::kLaunch:
      return "kernel_launch";
    case MemoryAction::kDeviceCall:
      return "device_call";
    case MemoryAction::kBefore:
      return "before_window";
    case MemoryAction::kElsewhere:
      return "other_threads";
  }
  return "allocate";
}

bool ReturnsMemory(MemoryAction action) {
  return action == MemoryAction::kFree || action == MemoryAction::kSegmentFree ||
         action == MemoryAction::kSegmentUnmap || action == MemoryAction::kDriverFree;
}

MemoryAction ActionOf(SegmentAction action) {
  switch (action) {
    case SegmentAction::kFree:
      return MemoryAction::kSegmentFree;
    case SegmentAction::kMap:
      return MemoryAction::kSegmentMap;
    case SegmentAction::kUnmap:
      return MemoryAction::kSegmentUnmap;
    case SegmentAction::kAllocate:
    case SegmentAction::kFound:
      break;
  }
  return MemoryAction::kSegmentAllocate;
}

}  // namespace memoir
