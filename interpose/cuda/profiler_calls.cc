#include "interpose/cuda/profiler_calls.h"

#include <atomic>
#include <cstdint>

#include "interpose/cuda/wrapped_calls.h"
#include "interpose/system/errno_keeper.h"

namespace memoir {
namespace {

constinit std::atomic<void (*)()> follower{nullptr};

// Wraps a call of CUPTI. Each argument fits into one register, so the wrappers need not declare its exact type.
template <class... A>
int TakeCupti(const LookUpTag&, int (*original)(A...), A... arguments) {
  if (void (*aside)() = follower.load(std::memory_order_acquire); aside != nullptr) {
    const ErrnoKeeper errno_keeper;
    aside();
  }
  return original(arguments...);
}

constexpr WrappedCall kCalls[] = {
    Wrapped<"cuptiSubscribe", &TakeCupti<void**, void*, void*>>(),
    Wrapped<"cuptiSubscribe_v2", &TakeCupti<void**, void*, void*, void*>>(),
    Wrapped<"cuptiActivityRegisterCallbacks", &TakeCupti<void*, void*>>(),
    Wrapped<"cuptiActivityEnable", &TakeCupti<int>>(),
};

}  // namespace

void FollowProfilers(void (*aside)()) { follower.store(aside, std::memory_order_release); }

std::span<const WrappedCall> ProfilerCalls() { return kCalls; }

}  // namespace memoir
