#include "tracker/stacks/open_calls.h"

#include <cstddef>
#include <cstring>
#include <new>

#include "interpose/errno_keeper.h"
#include "interpose/ring.h"
#include "interpose/tick.h"
#include "tracker/stacks/builtin_names.h"
#include "tracker/stacks/code_table.h"
#include "tracker/stacks/frame_walk.h"
#include "tracker/stacks/thread_memory.h"

namespace memoir {
namespace {

// A frame, or with the lowest bit the function in C that it calls.
using Key = std::uintptr_t;
constexpr Key kBuiltin = 1;

// Of a thread, in memory that begins as zeros.
struct OpenCalls {
  static constexpr std::uint32_t kMost = 8000;  // further in they are not recorded
  std::uint32_t thread;                         // a recycled slot begins anew
  std::uint32_t epoch;                          // of the recording's ranges; in another one it is empty
  std::uint32_t count;
  Key calls[kMost];  // outermost first
};
static_assert(sizeof(OpenCalls) <= kCallsBytes);

Key KeyOf(const char* frame) { return reinterpret_cast<Key>(frame); }

const char* CallerOf(const FrameLayout& layout, const char* frame) {
  return SkipOthers(layout, PointerAt(frame, layout.previous));
}

std::uint32_t NameOf(const FrameLayout& layout, const char* frame) {
  return FindCode(layout, CodeOfFrame(layout, frame)).name;
}

class Recorder {
 public:
  Recorder(const FrameLayout& layout, ThreadSlot* slot, OpenCalls& open) : layout_(layout), slot_(slot), open_(open) {}

  // Whether it was there to begin with: what it had is of another thread or recording.
  bool Begin(std::uint32_t epoch) {
    if (open_.thread == slot_->thread && open_.epoch == epoch) [[likely]]
      return true;
    open_.thread = slot_->thread;
    open_.epoch = epoch;
    open_.count = 0;
    return false;
  }
  // For one more call; else that is counted.
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
  // The newest that is open, and what was called by it. False: it is not.
  bool PopTo(Key key) {
    for (std::uint32_t i = open_.count; i-- > 0;) {
      if (open_.calls[i] == key) return CutTo(i), true;
    }
    return false;
  }
  // What is open now is what `frame` and those around it say; nullptr: nothing. `through`: kBuiltin, where a function
  // in C that the frame calls may be what goes on.
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

// `record` gets a Recorder, and whether what is open was known before.
template <class Record>
void OnThread(const FrameLayout& layout, Record record) {
  const std::uint32_t epoch = RangeEpoch();
  if (epoch == 0) return;
  const ErrnoKeeper errno_keeper;
  ThreadSlot* slot = RingThread();
  char* memory = slot == nullptr ? nullptr : ThreadMemory(slot);
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
