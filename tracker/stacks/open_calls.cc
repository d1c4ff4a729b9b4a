#include "tracker/stacks/open_calls.h"

#include <cstddef>
#include <cstring>
#include <new>

#include "interpose/ring/ring.h"
#include "interpose/system/errno_keeper.h"
#include "interpose/system/tick.h"
#include "tracker/stacks/builtin_names.h"
#include "tracker/stacks/code_table.h"
#include "tracker/stacks/frame_walk.h"
#include "tracker/stacks/hook_scratch.h"

namespace memoir {
namespace {

// Identifies a call: the address of the frame. For a call of a C function, it is the address of the calling frame, with
// the lowest bit set.
using Key = std::uintptr_t;
constexpr Key kBuiltin = 1;

// The open calls of a thread, in zeroed memory.
struct OpenCalls {
  static constexpr std::uint32_t kMost = 8000;  // deeper calls are not recorded
  std::uint32_t thread;  // number of the slot's thread; if the slot has another thread now, the list is empty
  std::uint32_t epoch;   // RangeEpoch() of the content; in another epoch the list is empty
  std::uint32_t count;
  Key calls[kMost];  // outermost first
};
static_assert(sizeof(OpenCalls) <= kCallsBytes);

Key KeyOf(const char* frame) { return reinterpret_cast<Key>(frame); }

const char* CallerOf(const FrameLayout& layout, const char* frame) {
  return NearestFunctionFrame(layout, PointerAt(frame, layout.previous));
}

std::uint32_t NameOf(const FrameLayout& layout, const char* frame) {
  return FindCode(layout, CodeOfFrame(layout, frame)).name;
}

// Changes a thread's list of open calls, and writes the records of the changes.
class Recorder {
 public:
  Recorder(const FrameLayout& layout, ThreadSlot* slot, OpenCalls& open) : layout_(layout), slot_(slot), open_(open) {}

  // Returns true if the list belongs to this thread and epoch. Otherwise clears the list, and returns false.
  bool Begin(std::uint32_t epoch) {
    if (open_.thread == slot_->thread && open_.epoch == epoch) [[likely]]
      return true;
    open_.thread = slot_->thread;
    open_.epoch = epoch;
    open_.count = 0;
    return false;
  }
  // Returns true if the list has room for one more call. Otherwise counts the call as lost, and returns false.
  bool HasRoom() const {
    if (open_.count < OpenCalls::kMost) [[likely]]
      return true;
    RingCountStack(StackLoss::kDeepCall);
    return false;
  }
  void Push(Key key, std::uint32_t name) {
    if (!HasRoom()) return;
    Write(RecordKind::kCallBegin, name);
    open_.calls[open_.count++] = key;
  }
  // Ends the newest open call with this key, and all calls inside of that call. False if no open call has this key.
  bool PopTo(Key key) {
    for (std::uint32_t i = open_.count; i-- > 0;) {
      if (open_.calls[i] == key) return CutTo(i), true;
    }
    return false;
  }
  // Corrects the list, so that the open calls are `frame` and its callers. nullptr: no call is open. `through` is
  // kBuiltin if the innermost open call may be a C function that `frame` calls; otherwise 0.
  void Follow(const char* frame, Key through) {
    const std::uint32_t count = open_.count;
    if (count == 0 ? frame == nullptr : (open_.calls[count - 1] & ~through) == KeyOf(frame)) [[likely]]
      return;
    for (std::uint32_t i = count; frame != nullptr && i-- > 0;) {
      if ((open_.calls[i] & ~through) == KeyOf(frame)) return CutTo(i + 1);
    }
    CutTo(0);
    const char* frames[kMostFrames];
    std::size_t found = 0;
    for (; frame != nullptr && found < kMostFrames; frame = CallerOf(layout_, frame)) frames[found++] = frame;
    while (found-- > 0) Push(KeyOf(frames[found]), NameOf(layout_, frames[found]));
  }

 private:
  void CutTo(std::uint32_t count) {
    if (open_.count == count) return;
    open_.count = count;
    Write(RecordKind::kCallEnd, 0);
  }
  void Write(RecordKind kind, std::uint32_t name) {
    std::uint8_t* place = RingReserve(slot_, sizeof(CallRecord), OnEmptyPool::kWait);
    if (place == nullptr) return;
    new (place) CallRecord{
        .header = {.words = sizeof(CallRecord) / 8, .kind = kind, .flags = 0, .depth = RingDepth(slot_), .count = 0},
        .tick = Tick(),
        .code = name,
        .around = open_.count};
    RingCommit(slot_, sizeof(CallRecord));
  }

  const FrameLayout& layout_;
  ThreadSlot* const slot_;
  OpenCalls& open_;
};

// Calls `record` with a Recorder for this thread. The second argument is false if the list of open calls has just been
// cleared.
template <class Record>
void OnThread(const FrameLayout& layout, Record record) {
  const std::uint32_t epoch = RangeEpoch();
  if (epoch == 0) return;
  const ErrnoKeeper errno_keeper;
  ThreadSlot* slot = RingThread();
  char* memory = slot == nullptr ? nullptr : HookScratch(slot);
  if (memory == nullptr) return;
  Recorder recorder(layout, slot, *reinterpret_cast<OpenCalls*>(memory + kRangesBytes + kStackBytes));
  const bool known = recorder.Begin(epoch);
  record(recorder, known);
}

}  // namespace

void RecordCall(const FrameLayout& layout, const char* frame) {
  OnThread(layout, [&](Recorder& recorder, bool) {
    if (!recorder.HasRoom()) return;
    recorder.Follow(CallerOf(layout, frame), kBuiltin);
    recorder.Push(KeyOf(frame), NameOf(layout, frame));
  });
}

void RecordReturn(const FrameLayout& layout, const char* frame) {
  OnThread(layout, [&](Recorder& recorder, bool known) {
    if (!known) recorder.Follow(frame, 0);
    recorder.PopTo(KeyOf(frame));
  });
}

void RecordBuiltinCall(const FrameLayout& layout, const char* frame, const BuiltinCall& call) {
  OnThread(layout, [&](Recorder& recorder, bool) {
    if (!recorder.HasRoom()) return;
    recorder.Follow(frame, 0);
    recorder.Push(KeyOf(frame) | kBuiltin, BuiltinName(call));
  });
}

void RecordBuiltinReturn(const FrameLayout& layout, const char* frame) {
  OnThread(layout, [&](Recorder& recorder, bool known) {
    if (!known) recorder.Follow(frame, 0);
    recorder.PopTo(KeyOf(frame) | kBuiltin);
  });
}

}  // namespace memoir
