// Calls that make contexts and end them. A context has no call that says what it takes of its device: that is measured
// around the one that makes it (context_watch.h), and in the runtime that is any first call that needs one.
#include <cerrno>
#include <cstdint>

#include "interpose/cuda/context_watch.h"
#include "interpose/cuda/device_calls.h"
#include "interpose/cuda/driver_blocks.h"
#include "interpose/cuda/driver_questions.h"
#include "interpose/cuda/wrapped_calls.h"
#include "interpose/errno_keeper.h"

namespace memoir {
namespace {

int WatchContext(const Called& called, ContextWatch context, int result) {
  const ErrnoKeeper errno_keeper;
  context.Settle(result == 0, 0, called.code);
  return result;
}

template <class... Rest>
int UseDevice(const Called& called, int (*original)(int, Rest...), int device, Rest... rest) {
  const int saved = errno;
  const ContextWatch context = ContextWatch::Primary(device);
  errno = saved;
  return WatchContext(called, context, original(device, rest...));
}

// One that makes the context where it is the first to need one; otherwise it has nothing to do with memory.
template <class... A>
int NeedContext(const Called& called, int (*original)(A...), A... arguments) {
  const int saved = errno;
  const ContextWatch context = ContextWatch::OfRuntime();
  errno = saved;
  return WatchContext(called, context, original(arguments...));
}

// The first call of many programs, and one of those that wait.
int SynchronizeDevice(const Called& called, int (*original)()) {
  return Record(
      DeviceCall::kDeviceSynchronize, [&] { return NeedContext(called, original); }, [](int) { return DeviceWork{}; });
}

// The runtime makes its contexts by this call, so it is not only the outermost that counts.
int RetainContext(const Called& called, int (*original)(void**, int), void** made, int device) {
  const int saved = errno;
  const ContextWatch context = ContextWatch::Primary(device);
  errno = saved;
  return WatchContext(called, context, original(made, device));
}

template <class Call>
int MakeContext(const void* code, void** made, int device, Call call) {
  const int saved = errno;
  ContextWatch context = ContextWatch::Another(device);
  errno = saved;
  const int result = call();
  const ErrnoKeeper errno_keeper;
  if (result == 0) context.SettleAnother(reinterpret_cast<std::uintptr_t>(*made), code);
  return result;
}
int MakeContext2(const Called& called, int (*original)(void**, unsigned, int), void** made, unsigned flags,
                 int device) {
  return MakeContext(called.code, made, device, [&] { return original(made, flags, device); });
}
int MakeContext3(const Called& called, int (*original)(void**, void*, int, unsigned, int), void** made, void* affinity,
                 int count, unsigned flags, int device) {
  return MakeContext(called.code, made, device, [&] { return original(made, affinity, count, flags, device); });
}
int MakeContext4(const Called& called, int (*original)(void**, void*, unsigned, int), void** made, void* parameters,
                 unsigned flags, int device) {
  return MakeContext(called.code, made, device, [&] { return original(made, parameters, flags, device); });
}

// `call` may end the device's primary context: a reset does; a release, where it was the last.
template <class Call>
int EndPrimary(int device, bool is_reset, Call call) {
  ContextEnding context{};
  {
    const ErrnoKeeper errno_keeper;
    if (device >= 0) context = PrimaryContextEnds(device);
  }
  const int result = call();
  const ErrnoKeeper errno_keeper;
  if (device < 0) return result;
  const bool ended = result == 0 && (is_reset || HasContext(device) == 0);
  ContextEnded(context, ended);
  if (ended) ForgetContextOf(device);
  return result;
}
int ResetCurrent(const Called&, int (*original)()) {
  const int saved = errno;
  const int device = DeviceOfRuntime();
  errno = saved;
  return EndPrimary(device, true, original);
}
template <bool kIsReset>
int EndPrimaryOf(const Called&, int (*original)(int), int device) {
  return EndPrimary(device, kIsReset, [&] { return original(device); });
}

int DestroyContext(const Called&, int (*original)(void*), void* destroyed) {
  const int saved = errno;
  const ContextEnding context = ContextEnds(reinterpret_cast<std::uintptr_t>(destroyed));
  errno = saved;
  const int result = original(destroyed);
  const ErrnoKeeper errno_keeper;
  ContextEnded(context, result == 0);
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
