#include "tracker/modules/direct_calls.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>

#include "interpose/ring/ring.h"
#include "interpose/system/errno_keeper.h"
#include "tracker/modules/module_calls.h"

namespace memoir {
namespace {

// Maximum number of frames that are read. Usually few frames lie between a module's forward and the operators that it
// calls.
constexpr int kFramesLookedAt = 16;
constexpr std::size_t kMost = 3;  // maximum number of nested direct calls

struct Call {
  const char* frame;
  std::uint32_t module;
  std::uint32_t level;  // number of open calls through __call__ around this call
  bool operator==(const Call&) const = default;
};

// The open direct calls of this thread, outermost first. If `epoch` is not the current RangeEpoch(), no direct call is
// open.
struct Calls {
  std::uint32_t epoch;  // RangeEpoch() in which the calls began
  std::uint16_t level;  // number of open calls through __call__
  std::uint16_t count;
  Call open[kMost];
};
static_assert(sizeof(Calls) <= 64);
[[gnu::tls_model("initial-exec")]] constinit thread_local Calls calls{};

Calls& CallsNow() {
  if (const std::uint32_t epoch = RangeEpoch(); calls.epoch != epoch)
    calls = {.epoch = epoch, .level = 0, .count = 0, .open = {}};
  return calls;
}

// Returns the id of the module that is the first argument of the frame's function; kUnknown if this argument is not a
// module with an id.
std::uint32_t ModuleOf(const memoir_python_frames& frames, const char* frame) {
  const char* self = ObjectAt(frame, frames.first_local);
  if (self != nullptr && PointerAt(self, frames.type) == frames.cell)
    self = PointerAt(self, frames.cell_content);  // the variable of a closure
  return self == nullptr ? AddressTable::kUnknown : module_tables.modules.Find(reinterpret_cast<std::uint64_t>(self));
}

// Returns true if `code` belongs to a function of torch through which __call__ calls forward.
bool IsTorchsCaller(const memoir_python_frames& frames, const void* code) {
  return std::find(std::begin(frames.callers), std::end(frames.callers), code) != std::end(frames.callers);
}

// Finds the direct calls between the innermost frame and the nearest call through __call__, innermost first.
std::size_t Find(const memoir_python_frames& frames, Call (&found)[kMost], std::uint32_t level) {
  std::size_t count = 0;
  Call candidate{};
  const char* frame = InnermostFrame(frames);
  for (int i = 0; frame != nullptr && i < kFramesLookedAt && count < kMost;
       ++i, frame = PointerAt(frame, frames.previous)) {
    if (HoldsNoFunction(frame, frames.owner)) continue;
    const char* code = ObjectAt(frame, frames.code);
    if (IsTorchsCaller(frames, code)) return count;  // so the candidate was called through __call__
    if (candidate.frame != nullptr) found[count++] = candidate;
    candidate = {};
    if (PointerAt(code, frames.name) != frames.forward) continue;
    const std::uint32_t module = ModuleOf(frames, frame);
    if (module == 0 || module == AddressTable::kUnknown) continue;
    // The module's forward has called super().forward(x). Only the outer forward is a module call.
    if (count > 0 && found[count - 1].module == module) --count;
    candidate = {frame, module, level};
  }
  if (candidate.frame != nullptr && count < kMost) found[count++] = candidate;
  return count;
}

void EndFrom(Calls& now, std::size_t first) {
  while (now.count > first) RecordModuleExit(now.open[--now.count].module);
}

}  // namespace

void LookForDirectCalls(const memoir_python_frames& frames) {
  const ErrnoKeeper errno_keeper;
  Calls& now = CallsNow();
  Call found[kMost];
  std::size_t left = Find(frames, found, now.level);
  if (left == 0 && now.count == 0) return;
  std::size_t at = 0;
  while (at < now.count && now.open[at].level < now.level) ++at;
  while (left > 0 && at < now.count && now.open[at] == found[left - 1]) ++at, --left;
  EndFrom(now, at);
  for (; left > 0 && now.count < kMost; --left) {
    now.open[now.count++] = found[left - 1];
    RecordModuleEnter(found[left - 1].module);
  }
}

void BeginModuleCall() {
  FollowDirectCalls();
  ++CallsNow().level;
}

void EndModuleCall() {
  Calls& now = CallsNow();
  if (now.level == 0) return;  // the module call began before the recording
  std::size_t at = now.count;
  while (at > 0 && now.open[at - 1].level >= now.level) --at;
  EndFrom(now, at);
  --now.level;
}

}  // namespace memoir
