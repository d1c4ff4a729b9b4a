// The part of a replay that passes over what runs, for a reader that follows a recording while it is written and may
// not take more than its share of a processor (tools/follow). As if the recorder had been switched to memory alone:
// blocks, segments, steps and calls of modules are shown, with no range around them; what is recorded of operators,
// stacks and kernels is not.
//
// Ranges of the program's own are shown without length, where they begin, for steps are found by them. So a step that
// an optimizer ends is seen where its range begins.
#include <algorithm>

#include "tools/model/replayer.h"

namespace memoir {

// What waits of earlier chunks is shown as they were read.
void Replayer::SwitchSkimming(bool skim) {
  Drain(kForever);
  skimming_ = skim;
  if (skim) {
    Cut();
    CloseOtherRanges({}, now_);
  }
  auto event = MakeEvent<SwitchEvent>(process_, ThreadId(), now_);  // of no thread: it is the reader's
  (skim ? event.level : event.before) = v1::LEVEL_MEMORY;
  sight_.Skim(skim);
  visitor_.OnSwitch(event);
}

// Columns that events of several kinds take from are walked; what no event that is shown takes from is not.
bool Replayer::Skim(ThreadReplay& thread, RunCursor& cursor) {
  Run& run = cursor.run;
  switch (cursor.kind()) {
    case v1::RANGE_BEGIN_FUNCTION:
    case v1::RANGE_BEGIN_BACKWARD:
    case v1::RANGE_BEGIN_DISPATCH:
    case v1::RANGE_BEGIN_NVTX:
      run.name.Next();
      return true;
    case v1::RANGE_BEGIN_USER: {
      OpenRange range;
      range.name = ids_->name(run.name.Next32()).id;
      range.source = RangeSource::kUser;
      range.begin = cursor.tick;
      now_ = std::max(now_, cursor.tick);
      auto event = MakeEvent<RangeBeginEvent>(process_, thread.id(), cursor.tick);
      PushRange(thread, range, event);
      tensors_.clear();
      if (event.range != nullptr) PopRange(thread, cursor.tick, SignatureId(), false);
      return true;
    }
    case v1::RANGE_END:
    case v1::STACK:
    case v1::CALL_BEGIN:
    case v1::CALL_END:
    case v1::OPTIMIZER_HOLDS:
    case v1::HOLDS_MORE:
    case v1::GRADIENT_OF:
      return true;
    case v1::MODULE_HOLDS:
      run.module.Next();
      return true;
    case v1::KERNEL_LAUNCH:
    case v1::DEVICE_CALL:
      if (cursor.has_device) run.device.Next();
      cursor.stream += static_cast<std::uint64_t>(ZigZag(run.stream_delta.Next()));
      if (cursor.kind() == v1::DEVICE_CALL) run.bytes.Next();
      return true;
    case v1::KERNEL_RUN:
      if (cursor.has_device) run.device.Next();
      run.bytes.Next();
      return true;
    default:
      return false;
  }
}

}  // namespace memoir
