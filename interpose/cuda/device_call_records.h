// Records CUDA calls that queue work on a device, wait for it, or make graphs (docs/event_schema.md, "Calls of CUDA").
//
// These calls are recorded while ranges are recorded. With --kernels off, launches are not recorded. Only the outermost
// of nested calls is recorded (cudaLaunchKernel calls cuLaunchKernel). If the ring has no room, the record of a launch
// waits for room, and any other record is dropped.
//
// This code needs no library except libc. It runs on any thread, also under the lock of torch's CUDA allocator.
#ifndef INTERPOSE_CUDA_DEVICE_CALL_RECORDS_H_
#define INTERPOSE_CUDA_DEVICE_CALL_RECORDS_H_

#include <cstdint>

#include "interpose/records/ring_record.h"
#include "interpose/system/errno_keeper.h"
#include "interpose/system/tick.h"

namespace memoir {

// Converts to true if a call is the outermost device call on its thread and is recorded. Allocating calls have a
// separate counter (OutermostDriverCall), because the instantiation of a graph allocates.
class OutermostDeviceCall {
 public:
  OutermostDeviceCall();
  ~OutermostDeviceCall();
  OutermostDeviceCall(const OutermostDeviceCall&) = delete;
  OutermostDeviceCall& operator=(const OutermostDeviceCall&) = delete;
  explicit operator bool() const { return recorded_; }

 private:
  const bool recorded_;
};

// Properties of a call besides its duration; 0 or nullptr if the call has no such property.
struct DeviceWork {
  const void* stream = nullptr;
  std::uint64_t bytes = 0;
  std::uint8_t copy_kind = 0;  // cudaMemcpyKind plus 1
  const void* graph = nullptr;
  const void* graph_exec = nullptr;
};
// Records a call that returned `result`. `begin_tick`: when the call began.
void RecordDeviceCall(DeviceCallKind call, const DeviceWork& work, int result, std::uint64_t begin_tick);

struct Dimensions {  // dim3
  unsigned x, y, z;
};
struct KernelLaunch {
  Dimensions grid, block;
  const void* stream;
};
// Records a launch that returned `result`. `kernel`: id of the kernel's name in the ring's name table; 0: unknown.
void RecordLaunch(DeviceCallKind call, std::uint32_t kernel, const KernelLaunch& launch, int result);

// Runs `call` and records it if it is the outermost device call. After the call, `work(result)` returns the properties
// of the call.
template <class Call, class Work>
int RunAndRecord(DeviceCallKind kind, Call call, Work work) {
  const OutermostDeviceCall outermost;
  if (!outermost) return call();
  const std::uint64_t begin = Tick();
  const int result = call();
  const ErrnoKeeper errno_keeper;
  RecordDeviceCall(kind, work(result), result, begin);
  return result;
}

}  // namespace memoir

#endif  // INTERPOSE_CUDA_DEVICE_CALL_RECORDS_H_
