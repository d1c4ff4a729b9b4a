// Wraps calls that create and end contexts. No call reports the size of a context, so Memoir measures the size around
// the call that creates the context (context_watch.h). In a program that uses CUDA's runtime, the first call that needs
// a context also creates it.
#include <cerrno>
#include <cstdint>

#include "interpose/cuda/context_watch.h"
#include "interpose/cuda/device_call_records.h"
#include "interpose/cuda/driver_blocks.h"
#include "interpose/cuda/driver_queries.h"
#include "interpose/cuda/wrapped_calls.h"
#include "interpose/system/errno_keeper.h"

namespace memoir {
namespace {

// Records the context if the call that returned `result` created it. Returns `result`.
int WatchContext(const CallSite& called, ContextWatch context, int result) {
  const ErrnoKeeper errno_keeper;
  context.Settle(result == 0, 0, called.code);
  return result;
}

// Wraps a call that creates the primary context of `device` unless this context exists already.
template <class... Rest>
int UseDevice(const CallSite& called, int (*original)(int, Rest...), int device, Rest... rest) {
  const int saved = errno;
  const ContextWatch context = ContextWatch::ForPrimary(device);
  errno = saved;
  return WatchContext(called, context, original(device, rest...));
}

// Wraps a call that creates the device's context on first use, and allocates no other device memory.
template <class... A>
int NeedContext(const CallSite& called, int (*original)(A...), A... arguments) {
  const int saved = errno;
  const ContextWatch context = ContextWatch::ForRuntime();
  errno = saved;
  return WatchContext(called, context, original(arguments...));
}

// Wraps cudaDeviceSynchronize, with which many programs create the context. The call is also recorded as a wait.
int SynchronizeDevice(const CallSite& called, int (*original)()) {
  return RunAndRecord(
      DeviceCallKind::kDeviceSynchronize, [&] { return NeedContext(called, original); },
      [](int) { return DeviceWork{}; });
}

// Wraps cuDevicePrimaryCtxRetain. The runtime also creates its contexts with cuDevicePrimaryCtxRetain, so the context
// is measured even if the runtime makes this call inside another wrapped call.
int RetainContext(const CallSite& called, int (*original)(void**, int), void** made, int device) {
  const int saved = errno;
  const ContextWatch context = ContextWatch::ForPrimary(device);
  errno = saved;
  return WatchContext(called, context, original(made, device));
}

// Wraps a call that creates a context other than a primary one. `code`: the return address of the call.
template <class Call>
int MakeContext(const void* code, void** made, int device, Call call) {
  const int saved = errno;
  ContextWatch context = ContextWatch::ForAnother(device);
  errno = saved;
  const int result = call();
  const ErrnoKeeper errno_keeper;
  if (result == 0) context.SettleAnother(reinterpret_cast<std::uintptr_t>(*made), code);
  return result;
}
int MakeContext2(const CallSite& called, int (*original)(void**, unsigned, int), void** made, unsigned flags,
                 int device) {
  return MakeContext(called.code, made, device, [&] { return original(made, flags, device); });
}
int MakeContext3(const CallSite& called, int (*original)(void**, void*, int, unsigned, int), void** made,
                 void* affinity, int count, unsigned flags, int device) {
  return MakeContext(called.code, made, device, [&] { return original(made, affinity, count, flags, device); });
}
int MakeContext4(const CallSite& called, int (*original)(void**, void*, unsigned, int), void** made, void* parameters,
                 unsigned flags, int device) {
  return MakeContext(called.code, made, device, [&] { return original(made, parameters, flags, device); });
}

// Wraps a call that may end the device's primary context: a reset always ends it; a release ends it if no other
// reference to the context is left.
template <class Call>
int EndPrimary(int device, bool is_reset, Call call) {
  ContextEnd context{};
  {
    const ErrnoKeeper errno_keeper;
    if (device >= 0) context = BeginPrimaryContextEnd(device);
  }
  const int result = call();
  const ErrnoKeeper errno_keeper;
  if (device < 0) return result;
  const bool ended = result == 0 && (is_reset || HasContext(device) == 0);
  FinishContextEnd(context, ended);
  if (ended) ForgetContextOf(device);
  return result;
}
int ResetCurrent(const CallSite&, int (*original)()) {
  const int saved = errno;
  const int device = DeviceOfRuntime();
  errno = saved;
  return EndPrimary(device, true, original);
}
template <bool kIsReset>
int EndPrimaryOf(const CallSite&, int (*original)(int), int device) {
  return EndPrimary(device, kIsReset, [&] { return original(device); });
}

int DestroyContext(const CallSite&, int (*original)(void*), void* destroyed) {
  const int saved = errno;
  const ContextEnd context = BeginContextEnd(reinterpret_cast<std::uintptr_t>(destroyed));
  errno = saved;
  const int result = original(destroyed);
  const ErrnoKeeper errno_keeper;
  FinishContextEnd(context, result == 0);
  return result;
}

using Stream = void*;
using Event = void*;
using Address = std::uint64_t;
using Bytes = std::size_t;

constexpr WrappedCall kCalls[] = {
    Wrapped<"cudaSetDevice", &UseDevice<>>(),
    Wrapped<"cudaInitDevice", &UseDevice<unsigned, unsigned>>(),
    Wrapped<"cudaDeviceReset", &ResetCurrent>(),
    Wrapped<"cuDevicePrimaryCtxRetain", &RetainContext>(),
    Wrapped<"cuDevicePrimaryCtxReset_v2", &EndPrimaryOf<true>>(),
    Wrapped<"cuDevicePrimaryCtxRelease_v2", &EndPrimaryOf<false>>(),
    Wrapped<"cuCtxDestroy_v2", &DestroyContext>(),
    Wrapped<"cuCtxCreate_v2", &MakeContext2>(),
    Wrapped<"cuCtxCreate_v3", &MakeContext3>(),
    Wrapped<"cuCtxCreate_v4", &MakeContext4>(),
    Wrapped<"cudaDeviceSynchronize", &SynchronizeDevice>(),
    Wrapped<"cudaMemGetInfo", &NeedContext<Bytes*, Bytes*>>(),
    Wrapped<"cudaStreamCreate", &NeedContext<Stream*>>(),
    Wrapped<"cudaStreamCreateWithFlags", &NeedContext<Stream*, unsigned>>(),
    Wrapped<"cudaStreamCreateWithPriority", &NeedContext<Stream*, unsigned, int>>(),
    Wrapped<"cudaEventCreate", &NeedContext<Event*>>(),
    Wrapped<"cudaEventCreateWithFlags", &NeedContext<Event*, unsigned>>(),
    Wrapped<"cuMemAddressReserve", &NeedContext<Address*, Bytes, Bytes, Address, unsigned long long>>(),
};

}  // namespace

std::span<const WrappedCall> ContextCalls() { return kCalls; }

}  // namespace memoir
