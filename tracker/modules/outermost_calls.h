// Follows the outermost module calls of each thread: calls without another module's call around them. If a program
// marks no steps, such a call may begin a step (tracker/repeated_steps/step_module.h).
//
// Works at every level of recording, also at the level `memory`, at which module_calls.h records nothing. A nested call
// costs one increment and one decrement of a counter of its thread. Any thread; takes no lock and does not allocate.
#ifndef TRACKER_MODULES_OUTERMOST_CALLS_H_
#define TRACKER_MODULES_OUTERMOST_CALLS_H_

#include <atomic>
#include <cstdint>

namespace memoir {

// Starts to call `begins` before each outermost module call, on the thread of the call and with the module's address.
// If `begins` is nullptr, no function is called from now on. If a thread is inside of a module call now, its next
// nested call counts as an outermost call.
void FollowOutermostCalls(void (*begins)(std::uint64_t module)) noexcept;

namespace outermost_calls {
// 0 while calls are not followed; otherwise a number that changes whenever FollowOutermostCalls starts to follow them.
extern constinit std::atomic<std::uint32_t> epoch;
void Enter(std::uint32_t now, std::uint64_t module) noexcept;
void Leave(std::uint32_t now) noexcept;
}  // namespace outermost_calls

// NoteModuleEntered is called when a call of any module begins, with the address of the module's Python object.
// NoteModuleLeft is called when the call ends.
inline void NoteModuleEntered(std::uint64_t module) noexcept {
  if (const std::uint32_t now = outermost_calls::epoch.load(std::memory_order_relaxed)) [[unlikely]]
    outermost_calls::Enter(now, module);
}
inline void NoteModuleLeft() noexcept {
  if (const std::uint32_t now = outermost_calls::epoch.load(std::memory_order_relaxed)) [[unlikely]]
    outermost_calls::Leave(now);
}

}  // namespace memoir

#endif  // TRACKER_MODULES_OUTERMOST_CALLS_H_
