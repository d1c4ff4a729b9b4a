#include "tracker/modules/outermost_calls.h"

namespace memoir {
namespace {

constinit std::atomic<void (*)(std::uint64_t)> call_begins{nullptr};
constinit std::atomic<std::uint32_t> epochs{0};

// Number of module calls that are open on this thread, and the epoch in which they were counted. In another epoch the
// count begins at 0 again.
struct OpenCalls {
  std::uint32_t epoch;
  std::uint32_t calls;
};
[[gnu::tls_model("initial-exec")]] constinit thread_local OpenCalls open{};

}  // namespace

namespace outermost_calls {

constinit std::atomic<std::uint32_t> epoch{0};

void Enter(std::uint32_t now, std::uint64_t module) noexcept {
  if (open.epoch != now) open = {.epoch = now, .calls = 0};
  if (open.calls++ > 0) return;
  if (void (*const begins)(std::uint64_t) = call_begins.load(std::memory_order_acquire)) begins(module);
}

void Leave(std::uint32_t now) noexcept {
  if (open.epoch == now && open.calls > 0) --open.calls;
}

}  // namespace outermost_calls

void FollowOutermostCalls(void (*begins)(std::uint64_t module)) noexcept {
  call_begins.store(begins, std::memory_order_release);
  const std::uint32_t next = begins == nullptr ? 0 : epochs.fetch_add(1, std::memory_order_relaxed) + 1;
  outermost_calls::epoch.store(next, std::memory_order_release);
}

}  // namespace memoir
