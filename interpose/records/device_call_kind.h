// The kinds of CUDA calls that are recorded, and the kinds of work that ran on a device. The ring (ring_record.h) and
// the capture use the same numbers. This file contains only constants.
#ifndef INTERPOSE_RECORDS_DEVICE_CALL_KIND_H_
#define INTERPOSE_RECORDS_DEVICE_CALL_KIND_H_

#include <cstdint>

namespace memoir {

// The recorded CUDA function. DeviceCall in capture.proto has the same numbers and describes each kind.
enum class DeviceCallKind : std::uint8_t {
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

// The kinds of work that a device ran, as CUPTI reported them.
enum class RunKind : std::uint8_t { kKernel = 1, kCopy = 2, kFill = 3 };

}  // namespace memoir

#endif  // INTERPOSE_RECORDS_DEVICE_CALL_KIND_H_
