#include "tracker/stacks/stack_recorder.h"

#include <algorithm>
#include <cstring>
#include <new>

#include "interpose/system/tick.h"
#include "tracker/stacks/code_table.h"
#include "tracker/stacks/frame_walk.h"
#include "tracker/stacks/hook_scratch.h"
#include "tracker/stacks/native_frame_reader.h"

namespace memoir {

constinit std::atomic<const FrameLayout*> stack_layout{nullptr};

namespace {

constinit char problem[256] = "", native_problem[256] = "";
constinit std::uint64_t since = 0;
constinit std::atomic<bool> native{false};
constinit std::atomic<std::uint32_t> recording{0};  // number of the recording; stacks of earlier recordings are invalid

// The layout for a program without Python. Only native frames are then recorded.
constexpr FrameLayout kNoPython = [] {
  FrameLayout layout{};
  layout.thread_state = +[]() -> void* { return nullptr; };
  return layout;
}();

struct Entry {
  FramePosition at;
  StackFrame recorded;     // the name and the line, as in a record
  std::uint32_t sighting;  // sighting of the frame's CodeEntry or NativeObject
};

// The stack that a thread recorded last, and room for its current stack. Zeroed memory is an empty object.
struct ThreadStack {
  std::uint32_t thread;     // number of the slot's thread; if the slot has another thread now, the stack is empty
  std::uint32_t recording;  // number of the recording; if another recording runs now, the stack is empty
  std::uint32_t deaths;     // CodeDeaths() when the names of the recorded stack were last read
  std::uint32_t count;
  std::uint32_t which;                               // index in `frames` of the recorded stack
  Entry frames[2][kMostFrames + kMostNativeFrames];  // innermost first
};
static_assert(sizeof(ThreadStack) <= kStackBytes);

struct Comparison {
  std::size_t count = 0;  // number of frames in the current stack
  bool same = true;       // the current stack has the same frames as the recorded stack
  bool all = true;        // no frame of the current stack was left out
};

// Visits the native frames up to the frame that Python called, and then the Python frames.
template <class Take>
bool WalkAllFrames(const FrameLayout& layout, Take take) {
  if (native.load(std::memory_order_relaxed)) {
    NativeFrame frames[kMostNativeFrames];
    const std::size_t count = ReadNativeFrames(frames);
    for (std::size_t i = 0; i < count; ++i)
      take(FramePosition{reinterpret_cast<const char*>(frames[i].object), frames[i].offset});
  }
  return WalkFrames(layout, take);
}

// Reads the current stack into the half of `stack.frames` that does not contain the recorded stack, and compares both.
// `count_before`: number of frames of the recorded stack.
Comparison Compare(const FrameLayout& layout, ThreadStack& stack, std::size_t count_before) {
  const Entry* before = stack.frames[stack.which];
  Entry* now = stack.frames[1 - stack.which];
  Comparison found;
  found.all = WalkAllFrames(layout, [&](const FramePosition& frame) {
    found.same = found.same && found.count < count_before && frame == before[found.count].at;
    now[found.count++].at = frame;
  });
  found.same = found.same && found.count == count_before;
  return found;
}

// Finds the name and the line of a frame; for a native frame, the object's name and the offset in the object. False if
// the frame's code is neither a code object nor a native object.
bool Describe(const FrameLayout& layout, Entry& entry) {
  if (const NativeObject* object = AsNativeObject(entry.at.code); object != nullptr) {
    entry.sighting = object->sighting;
    entry.recorded = {object->name, entry.at.instruction};
    return true;
  }
  const CodeEntry code = FindCode(layout, entry.at.code);
  if (code.sighting == 0) return false;
  entry.sighting = code.sighting;
  entry.recorded = {code.name, FindLine(layout, entry.at.code, code.sighting, entry.at.instruction)};
  return true;
}

// Finds the names and lines of the current stack, which has `count` frames. Sets *kept to the number of outermost
// frames that are the same as in the recorded stack. False if Describe fails for a frame.
bool Resolve(const FrameLayout& layout, ThreadStack& stack, std::size_t count_before, std::size_t count,
             std::size_t* kept) {
  const std::uint32_t deaths = CodeDeaths();
  const bool trusted = deaths == stack.deaths;
  const Entry none{};
  bool outermost_are_kept = true;
  *kept = 0;
  for (std::size_t i = 1; i <= count; ++i) {
    Entry& now = stack.frames[1 - stack.which][count - i];
    const Entry& before = i <= count_before ? stack.frames[stack.which][count_before - i] : none;
    const bool alike = i <= count_before && now.at == before.at;
    if (alike && trusted) {
      now = before;
    } else {
      if (!Describe(layout, now)) return false;
    }
    outermost_are_kept = outermost_are_kept && alike && now.sighting == before.sighting;
    if (outermost_are_kept) *kept = i;
  }
  stack.deaths = deaths;
  return true;
}

// Writes one record with frames, outermost first, but without the `first` outermost frames of the `count` frames.
// Returns the number of frames in the record, at most kMaxRecordFrames.
std::size_t WriteRecord(ThreadSlot* slot, const Entry* frames, std::size_t count, std::size_t first) {
  const std::size_t number = std::min(count - first, kMaxRecordFrames);
  const std::size_t bytes = sizeof(StackRecord) + number * sizeof(StackFrame);
  std::uint8_t* place = slot->cursor;
  new (place) StackRecord{.header = {.words = static_cast<std::uint16_t>(bytes / 8),
                                     .kind = RecordKind::kStack,
                                     .flags = 0,
                                     .depth = RingDepth(slot),
                                     .count = static_cast<std::uint16_t>(number)},
                          .tick = Tick(),
                          .kept = static_cast<std::uint32_t>(first),
                          .reserved = 0};
  std::uint8_t* to = place + sizeof(StackRecord);
  for (std::size_t i = 0; i < number; ++i, to += sizeof(StackFrame))
    std::memcpy(to, &frames[count - 1 - first - i].recorded, sizeof(StackFrame));
  RingCommit(slot, bytes);
  slot->stack_is_known = 1;
  return number;
}

std::size_t RecordBytes(std::size_t frames) {
  return sizeof(StackRecord) + std::min(frames, kMaxRecordFrames) * sizeof(StackFrame);
}

// Writes only the changed frames if the ring extent contains the unchanged frames; otherwise writes all frames. `kept`:
// number of unchanged frames. False if the ring had no room.
bool Write(ThreadSlot* slot, const Entry* frames, std::size_t count, std::size_t kept, std::size_t room,
           OnEmptyPool on_empty) {
  std::size_t first = slot->stack_is_known == 0 ? 0 : kept;
  do {
    const std::size_t bytes = RecordBytes(count - first);
    if (RingReserve(slot, std::min(bytes + room, kMaxRecordBytes), on_empty) == nullptr) return false;
    // If RingReserve has begun a new ring extent, the extent needs all frames, and has more room than was requested.
    if (slot->stack_is_known == 0) first = 0;
    if (RingReserve(slot, RecordBytes(count - first), on_empty) == nullptr) return false;
    first += WriteRecord(slot, frames, count, first);
  } while (first < count);
  return true;
}

}  // namespace

void PrepareStacks(bool wanted, bool with_native) {
  stack_layout.store(nullptr, std::memory_order_release);
  *problem = *native_problem = '\0';
  since = Tick();
  const FrameLayout* layout = wanted ? FindFrameLayout(problem, sizeof problem) : nullptr;
  native.store(wanted && with_native && PrepareNativeFrames(native_problem, sizeof native_problem),
               std::memory_order_relaxed);
  if (layout == nullptr && native.load(std::memory_order_relaxed)) layout = &kNoPython;
  if (layout == nullptr) return;
  recording.fetch_add(1, std::memory_order_relaxed);
  if (layout != &kNoPython) PrepareCodes(*layout);
  stack_layout.store(layout, std::memory_order_release);
}

const char* StacksProblem() { return problem; }
const char* NativeFramesProblem() { return native_problem; }
std::uint64_t StacksSince() { return since; }

void RecordStackHere(const FrameLayout& layout, ThreadSlot* slot, std::size_t room, OnEmptyPool on_empty) {
  if (RingReserve(slot, std::min(sizeof(StackRecord) + room, kMaxRecordBytes), on_empty) == nullptr) return;
  char* memory = HookScratch(slot);
  if (memory == nullptr) return;
  auto& stack = *reinterpret_cast<ThreadStack*>(memory + kRangesBytes);
  // If a thread has no frames to record, nothing is written to `stack`, so that the pages of `stack` use no memory.
  const std::uint32_t now = recording.load(std::memory_order_relaxed);
  const bool is_mine = stack.thread == slot->thread && stack.recording == now;
  const std::size_t count_before = is_mine ? stack.count : 0;
  const Comparison found = Compare(layout, stack, count_before);
  const bool is_known = slot->stack_is_known != 0 || found.count == 0;
  if (found.same && is_known && (found.count == 0 || stack.deaths == CodeDeaths())) [[likely]]
    return;
  std::size_t kept = 0, count = found.count;
  if (!Resolve(layout, stack, count_before, count, &kept)) {
    RingCountStack(StackLoss::kUnread);
    kept = count = 0;  // an empty stack, because the previous stack would be wrong
  } else if (!found.all) {
    RingCountStack(StackLoss::kCut);
  }
  const bool unchanged = kept == count && kept == count_before && is_known;
  const std::uint32_t other = 1 - stack.which;
  if (!unchanged && !Write(slot, stack.frames[other], count, kept, room, on_empty)) {
    slot->stack_is_known = 0;
    return;
  }
  stack.thread = slot->thread;
  stack.recording = now;
  stack.which = other;
  stack.count = static_cast<std::uint32_t>(count);
}

}  // namespace memoir
