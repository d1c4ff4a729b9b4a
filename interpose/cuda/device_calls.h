// Calls of CUDA that put work on a device, wait for it, or make graphs of it: how a handler records one
// (docs/event_schema.md, "Calls of CUDA").
//
// Recorded where ranges are, but for launches with --kernels off. Of calls inside each other (cudaLaunchKernel calls
// cuLaunchKernel) the outermost counts. libc only. Any thread, also under torch's lock of a device: but for launches
// nothing waits.
#ifndef INTERPOSE_CUDA_DEVICE_CALLS_H_
#define INTERPOSE_CUDA_DEVICE_CALLS_H_

#include <cstdint>

#include "interpose/errno_keeper.h"
#include "interpose/ring_record.h"
#include "interpose/tick.h"

namespace memoir {

// One at a time on a thread, apart from those of memory (Outermost): a graph that is instantiated allocates.
class OutermostDeviceCall {
 public:
  OutermostDeviceCall();
  ~OutermostDeviceCall();
  OutermostDeviceCall(const OutermostDeviceCall&) = delete;
  OutermostDeviceCall& operator=(const OutermostDeviceCall&) = delete;
  explicit operator bool() const { return recorded_; }  // it is the outermost, and is recorded

 private:
  const bool recorded_;
};

// What there is to say of a call, beside how long it took; 0: it has none.
struct DeviceWork {
  const void* stream = nullptr;
  std::uint64_t bytes = 0;
  std::uint8_t copy_kind = 0;  // cudaMemcpyKind plus 1
  const void* graph = nullptr;
  const void* graph_exec = nullptr;
};
void RecordDeviceCall(DeviceCall call, const DeviceWork& work, int result, std::uint64_t begin_tick);

struct Dimensions {  // dim3
  unsigned x, y, z;
};
struct Launch {
  Dimensions grid, block;
  const void* stream;
};
void RecordLaunch(DeviceCall call, std::uint32_t kernel, const Launch& launch, int result);

// `call` does it; `work` says of it afterwards, with its result.
template <class Call, class Work>
int Record(DeviceCall kind, Call call, Work work) {
  const OutermostDeviceCall outermost;
  if (!outermost) return call();
  const std::uint64_t begin = Tick();
  const int result = call();
  const ErrnoKeeper errno_keeper;
  RecordDeviceCall(kind, work(result), result, begin);
  return result;
}

}  // namespace memoir

#endif  // INTERPOSE_CUDA_DEVICE_CALLS_H_
