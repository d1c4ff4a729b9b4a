#include "tools/model/event/event.h"

namespace memoir {

std::string_view ToString(RangeSource source) {
  switch (source) {
    case RangeSource::kFunction:
      return "function";
    case RangeSource::kBackward:
      return "backward";
    case RangeSource::kUser:
      return "user";
    case RangeSource::kDispatch:
      return "dispatch";
    case RangeSource::kNvtx:
      return "nvtx";
  }
  return "function";
}

std::string_view ToString(SegmentAction action) {
  switch (action) {
    case SegmentAction::kAllocate:
      return "segment_allocate";
    case SegmentAction::kFree:
      return "segment_free";
    case SegmentAction::kMap:
      return "segment_map";
    case SegmentAction::kUnmap:
      return "segment_unmap";
    case SegmentAction::kFound:
      return "segment_found";
  }
  return "segment_allocate";
}

std::string_view ToString(Phase phase) {
  switch (phase) {
    case Phase::kForward:
      return "forward";
    case Phase::kBackward:
      return "backward";
    case Phase::kRecompute:
      return "recompute";
    case Phase::kOptimizer:
      return "optimizer";
    case Phase::kCompile:
      return "compile";
    case Phase::kOther:
      return "other";
  }
  return "other";
}

}  // namespace memoir
