// Packs calls of CUDA: launches of kernels, copies, waits and graphs, and the kernels that ran. One thread.
#ifndef TRACKER_WRITER_PACK_DEVICE_CALL_PACKER_H_
#define TRACKER_WRITER_PACK_DEVICE_CALL_PACKER_H_

#include <cstdint>

#include "tracker/writer/events/event_group.h"
#include "tracker/writer/events/run_columns.h"
#include "tracker/writer/pack/shared_pack_state.h"

namespace memoir {

class DeviceCallPacker {
 public:
  explicit DeviceCallPacker(SharedPackState& shared) : shared_(shared) {}

  void AddKernelLaunch(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddDeviceCall(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddKernelRun(ThreadState& thread, const EventGroup& group, RunColumns& run);

 private:
  std::uint32_t FindKernel(std::uint32_t ring_id) { return shared_.DefineName(shared_.names.FindOperator(ring_id)); }

  SharedPackState& shared_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_PACK_DEVICE_CALL_PACKER_H_
