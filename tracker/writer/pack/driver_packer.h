// Packs driver allocations, device samples and host samples. Owns the live driver allocations, and the samples that
// keyframes contain. One thread.
#ifndef TRACKER_WRITER_PACK_DRIVER_PACKER_H_
#define TRACKER_WRITER_PACK_DRIVER_PACKER_H_

#include <cstdint>

#include "tracker/writer/events/event_group.h"
#include "tracker/writer/events/run_columns.h"
#include "tracker/writer/pack/shared_pack_state.h"
#include "tracker/writer/state/driver_state.h"
#include "tracker/writer/state/host_state.h"

namespace memoir {

class DriverPacker {
 public:
  explicit DriverPacker(SharedPackState& shared) : shared_(shared) {}

  void AddAllocate(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddFree(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddRefused(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddDeviceReading(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddHostReading(ThreadState& thread, const EventGroup& group, RunColumns& run);

  // Removes driver allocations older than `tick` (DriverState::ForgetBefore).
  void ForgetBefore(std::uint64_t tick) { driver_.ForgetBefore(tick); }

  const DriverState& driver() const { return driver_; }
  const HostState& host() const { return host_; }

 private:
  std::uint32_t FindLibrary(const char* name);

  SharedPackState& shared_;
  DriverState driver_;
  HostState host_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_PACK_DRIVER_PACKER_H_
