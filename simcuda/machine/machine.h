// The simulated machine: its devices, their memory, and the current device of each thread.
//
// Created at the first call of CUDA on any thread, and never destroyed, because programs call CUDA until they end. Any
// thread. A forked child has a copy of its parent's machine.
#ifndef SIMCUDA_MACHINE_MACHINE_H_
#define SIMCUDA_MACHINE_MACHINE_H_

#include <memory>
#include <vector>

#include "simcuda/configuration/configuration.h"
#include "simcuda/contents/allocator_blocks.h"
#include "simcuda/contents/contents.h"
#include "simcuda/machine/device.h"
#include "simcuda/machine/pinned_memory.h"
#include "simcuda/machine/stream_progress.h"
#include "simcuda/machine/virtual_memory.h"

namespace memoir::simcuda {

class Machine {
 public:
  // Prints one line if `configuration` has an error; then there are no devices.
  explicit Machine(const Configuration& configuration);

  int devices() const { return static_cast<int>(devices_.size()); }
  bool IsDevice(int ordinal) const { return ordinal >= 0 && ordinal < devices(); }
  Device& device(int ordinal) { return *devices_[static_cast<std::size_t>(ordinal)]; }
  // Returns the device that an address belongs to. nullptr if it is not device memory.
  Device* DeviceOf(const void* address);

  const CardProfile& profile() const { return configuration_.profile; }
  const Workspaces& workspaces() const { return configuration_.workspaces; }
  const Configuration& configuration() const { return configuration_; }
  Contents& contents() { return contents_; }
  AllocatorBlocks& allocator_blocks() { return allocator_blocks_; }
  PinnedMemory& pinned_memory() { return pinned_memory_; }
  StreamProgress& progress() { return progress_; }
  VirtualMemory& virtual_memory() { return virtual_memory_; }

 private:
  const Configuration configuration_;
  Contents contents_;
  AllocatorBlocks allocator_blocks_;
  PinnedMemory pinned_memory_;
  StreamProgress progress_;
  std::vector<std::unique_ptr<Device>> devices_;
  VirtualMemory virtual_memory_;
};

// Returns the machine of this process. The first call loads a library, so this call must not be made under a Mutex.
Machine& TheMachine();

// The calling thread's current device; 0 until it sets one.
int CurrentDevice();
void SetCurrentDevice(int ordinal);  // must satisfy IsDevice

}  // namespace memoir::simcuda

#endif  // SIMCUDA_MACHINE_MACHINE_H_
