// Wraps kernel launches of the runtime and the driver. With --kernels off, launches are not wrapped.
#include <cstdint>

#include "interpose/cuda/device_call_records.h"
#include "interpose/cuda/kernel_names.h"
#include "interpose/cuda/wrapped_calls.h"

namespace memoir {
namespace {

using Bytes = std::size_t;
using Stream = void*;

// Makes a launch, and records it if it is the outermost device call. Does not record it if launches are wrapped only
// because an earlier recording wrapped them. Queries the kernel's name after the launch, because only a launch loads
// the kernel. A failed launch is recorded without a name.
template <class Call>
int LaunchAs(DeviceCallKind kind, KernelHandle handle, const void* kernel, Call call, const KernelLaunch& launch) {
  const OutermostDeviceCall outermost;
  if (!outermost || !LaunchesAreWrapped()) return call();
  const int result = call();
  const ErrnoKeeper errno_keeper;
  RecordLaunch(kind, result == 0 ? NameOfKernel(handle, kernel) : 0, launch, result);
  return result;
}

// Wraps cudaLaunchKernel, cudaLaunchCooperativeKernel, and __cudaLaunchKernel (since CUDA 13, for kernel<<<...>>>).
template <DeviceCallKind kCall, KernelHandle kHandle>
int LaunchKernel(const CallSite&, int (*original)(const void*, Dimensions, Dimensions, void**, Bytes, Stream),
                 const void* kernel, Dimensions grid, Dimensions block, void** parameters, Bytes shared,
                 Stream stream) {
  return LaunchAs(kCall, kHandle, kernel, [&] { return original(kernel, grid, block, parameters, shared, stream); },
                  {grid, block, stream});
}

struct RuntimeConfiguration {  // the fields of cudaLaunchConfig_t that Memoir reads
  Dimensions grid, block;
  Bytes shared;
  Stream stream;
};
int LaunchByConfiguration(const CallSite&, int (*original)(const RuntimeConfiguration*, const void*, void**),
                          const RuntimeConfiguration* configuration, const void* kernel, void** parameters) {
  return LaunchAs(DeviceCallKind::kLaunchKernelExC, KernelHandle::kHostFunction, kernel,
                  [&] { return original(configuration, kernel, parameters); },
                  {configuration->grid, configuration->block, configuration->stream});
}

// Wraps cuLaunchKernel and cuLaunchCooperativeKernel.
template <DeviceCallKind kCall, class... Extra>
int LaunchFunction(const CallSite&,
                   int (*original)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, Stream,
                                   void**, Extra...),
                   void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared, Stream stream, void** parameters,
                   Extra... extra) {
  return LaunchAs(kCall, KernelHandle::kFunction, function,
                  [&] {
                    return original(function, grid_x, grid_y, grid_z, block_x, block_y, block_z, shared, stream,
                                    parameters, extra...);
                  },
                  {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, stream});
}

struct DriverConfiguration {  // the fields of CUlaunchConfig that Memoir reads
  Dimensions grid, block;
  unsigned shared;
  Stream stream;
};
int LaunchFunctionEx(const CallSite&, int (*original)(const DriverConfiguration*, void*, void**, void**),
                     const DriverConfiguration* configuration, void* function, void** parameters, void** extra) {
  return LaunchAs(DeviceCallKind::kCuLaunchKernelEx, KernelHandle::kFunction, function,
                  [&] { return original(configuration, function, parameters, extra); },
                  {configuration->grid, configuration->block, configuration->stream});
}

constexpr auto kHost = KernelHandle::kHostFunction;
constexpr auto kKernel = KernelHandle::kKernel;

constexpr WrappedCall kCalls[] = {
    Wrapped<"__cudaLaunchKernel", &LaunchKernel<DeviceCallKind::kLaunchKernel, kKernel>>(),
    Wrapped<"__cudaLaunchKernel_ptsz", &LaunchKernel<DeviceCallKind::kLaunchKernel, kKernel>>(),
    Wrapped<"cudaLaunchKernel", &LaunchKernel<DeviceCallKind::kLaunchKernel, kHost>>(),
    Wrapped<"cudaLaunchKernel_ptsz", &LaunchKernel<DeviceCallKind::kLaunchKernel, kHost>>(),
    Wrapped<"cudaLaunchCooperativeKernel", &LaunchKernel<DeviceCallKind::kLaunchCooperativeKernel, kHost>>(),
    Wrapped<"cudaLaunchKernelExC", &LaunchByConfiguration>(),
    Wrapped<"cudaLaunchKernelExC_ptsz", &LaunchByConfiguration>(),
    Wrapped<"cuLaunchKernel", &LaunchFunction<DeviceCallKind::kCuLaunchKernel, void**>>(),
    Wrapped<"cuLaunchKernelEx", &LaunchFunctionEx>(),
    Wrapped<"cuLaunchCooperativeKernel", &LaunchFunction<DeviceCallKind::kCuLaunchCooperativeKernel>>(),
};

}  // namespace

std::span<const WrappedCall> LaunchCalls() { return kCalls; }

}  // namespace memoir
