// Launches of kernels, by the runtime's functions and the driver's. Not wrapped with --kernels off.
#include <cstdint>

#include "interpose/cuda/device_calls.h"
#include "interpose/cuda/kernel_names.h"
#include "interpose/cuda/wrapped_calls.h"

namespace memoir {
namespace {

using Bytes = std::size_t;
using Stream = void*;

// The name is asked for after the launch, which has loaded the kernel; of one that failed it is not asked for.
template <class Call>
int LaunchAs(DeviceCall kind, KernelHandle handle, const void* kernel, Call call, const Launch& launch) {
  const OutermostDeviceCall outermost;
  if (!outermost || !LaunchesAreWrapped()) return call();  // wrapped by a recording before
  const int result = call();
  const ErrnoKeeper errno_keeper;
  RecordLaunch(kind, result == 0 ? NameOfKernel(handle, kernel) : 0, launch, result);
  return result;
}

// cudaLaunchKernel and, from CUDA 13 on, what nvcc makes of kernel<<<...>>>.
template <DeviceCall kCall, KernelHandle kHandle>
int LaunchKernel(const Called&, int (*original)(const void*, Dimensions, Dimensions, void**, Bytes, Stream),
                 const void* kernel, Dimensions grid, Dimensions block, void** parameters, Bytes shared,
                 Stream stream) {
  return LaunchAs(kCall, kHandle, kernel, [&] { return original(kernel, grid, block, parameters, shared, stream); },
                  {grid, block, stream});
}

struct RuntimeConfiguration {  // cudaLaunchConfig_t, as far as it is read
  Dimensions grid, block;
  Bytes shared;
  Stream stream;
};
int LaunchByConfiguration(const Called&, int (*original)(const RuntimeConfiguration*, const void*, void**),
                          const RuntimeConfiguration* configuration, const void* kernel, void** parameters) {
  return LaunchAs(DeviceCall::kLaunchKernelExC, KernelHandle::kHostFunction, kernel,
                  [&] { return original(configuration, kernel, parameters); },
                  {configuration->grid, configuration->block, configuration->stream});
}

template <DeviceCall kCall, class... Extra>
int LaunchFunction(const Called&,
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

struct DriverConfiguration {  // CUlaunchConfig, likewise
  Dimensions grid, block;
  unsigned shared;
  Stream stream;
};
int LaunchFunctionEx(const Called&, int (*original)(const DriverConfiguration*, void*, void**, void**),
                     const DriverConfiguration* configuration, void* function, void** parameters, void** extra) {
  return LaunchAs(DeviceCall::kCuLaunchKernelEx, KernelHandle::kFunction, function,
                  [&] { return original(configuration, function, parameters, extra); },
                  {configuration->grid, configuration->block, configuration->stream});
}

constexpr auto kHost = KernelHandle::kHostFunction;
constexpr auto kKernel = KernelHandle::kKernel;

constexpr WrappedCall kCalls[] = {
    Wrapped<"__cudaLaunchKernel", &LaunchKernel<DeviceCall::kLaunchKernel, kKernel>>(),
    Wrapped<"__cudaLaunchKernel_ptsz", &LaunchKernel<DeviceCall::kLaunchKernel, kKernel>>(),
    Wrapped<"cudaLaunchKernel", &LaunchKernel<DeviceCall::kLaunchKernel, kHost>>(),
    Wrapped<"cudaLaunchKernel_ptsz", &LaunchKernel<DeviceCall::kLaunchKernel, kHost>>(),
    Wrapped<"cudaLaunchCooperativeKernel", &LaunchKernel<DeviceCall::kLaunchCooperativeKernel, kHost>>(),
    Wrapped<"cudaLaunchKernelExC", &LaunchByConfiguration>(),
    Wrapped<"cudaLaunchKernelExC_ptsz", &LaunchByConfiguration>(),
    Wrapped<"cuLaunchKernel", &LaunchFunction<DeviceCall::kCuLaunchKernel, void**>>(),
    Wrapped<"cuLaunchKernelEx", &LaunchFunctionEx>(),
    Wrapped<"cuLaunchCooperativeKernel", &LaunchFunction<DeviceCall::kCuLaunchCooperativeKernel>>(),
};

}  // namespace

std::span<const WrappedCall> LaunchCalls() { return kCalls; }

}  // namespace memoir
