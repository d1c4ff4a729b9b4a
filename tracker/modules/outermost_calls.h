// Calls of modules with no other module's call around them on their thread: where a program marks no steps, such a call
// may begin one (tracker/detail/step_module.h).
//
// Followed whatever is recorded: at the level `memory` nothing else sees calls of modules. A call inside of another one
// costs a number of its thread's, one more and one less. Any thread; neither locks nor allocates.
#ifndef TRACKER_MODULES_OUTERMOST_CALLS_H_
#define TRACKER_MODULES_OUTERMOST_CALLS_H_

#include <atomic>
#include <cstdint>

namespace memoir {

// From here on `begins` is called before each such call, on its thread, with the module's address. nullptr: no more. A
// thread that is inside a call already is taken for one that is in none.
void FollowOutermostCalls(void (*begins)(std::uint64_t module)) noexcept;

namespace outermost_calls {
extern constinit std::atomic<std::uint32_t> epoch;  // 0: nobody follows; else another one each time
void Enter(std::uint32_t now, std::uint64_t module) noexcept;
void Leave(std::uint32_t now) noexcept;
}  // namespace outermost_calls

// A call of any module begins, ends.
inline void ModuleIsEntered(std::uint64_t module) noexcept {
  if (const std::uint32_t now = outermost_calls::epoch.load(std::memory_order_relaxed)) [[unlikely]]
    outermost_calls::Enter(now, module);
}
inline void ModuleIsLeft() noexcept {
  if (const std::uint32_t now = outermost_calls::epoch.load(std::memory_order_relaxed)) [[unlikely]]
    outermost_calls::Leave(now);
}

}  // namespace memoir

#endif  // TRACKER_MODULES_OUTERMOST_CALLS_H_
