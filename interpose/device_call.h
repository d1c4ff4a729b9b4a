// Which calls of CUDA there are records of, and what ran on a device: numbers of the ring (ring_record.h) that are the
// capture's, too. Nothing but constants.
#ifndef INTERPOSE_DEVICE_CALL_H_
#define INTERPOSE_DEVICE_CALL_H_

#include <cstdint>

namespace memoir {

// Which call of CUDA; the numbers are the capture's (DeviceCall there says more).
enum class DeviceCall : std::uint8_t {
  kLaunchKernel = 1,
  kLaunchKernelExC = 2,
  kLaunchCooperativeKernel = 3,
  kCuLaunchKernel = 4,
  kCuLaunchKernelEx = 5,
  kCuLaunchCooperativeKernel = 6,
  kCopy = 7,
  kCopyAsync = 8,
  kSet = 9,
  kSetAsync = 10,
  kStreamSynchronize = 11,
  kDeviceSynchronize = 12,
  kEventSynchronize = 13,
  kStreamBeginCapture = 14,
  kStreamEndCapture = 15,
  kGraphInstantiate = 16,
  kGraphLaunch = 17,
  kGraphDestroy = 18,
  kGraphExecDestroy = 19,
};

enum class RunKind : std::uint8_t { kKernel = 1, kCopy = 2, kFill = 3 };

}  // namespace memoir

#endif  // INTERPOSE_DEVICE_CALL_H_
