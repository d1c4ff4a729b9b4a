// The simulated machine: its devices, what they hold, and which device each thread has chosen.
//
// Made at the first call of CUDA, by whichever thread, and never destroyed: programs call CUDA until the very end. Any
// thread. A forked child shares nothing with its parent's machine but a copy of it, as with real CUDA.
#ifndef INTERPOSE_SIMCUDA_MACHINE_H_
#define INTERPOSE_SIMCUDA_MACHINE_H_

#include <memory>
#include <vector>

#include "interpose/simcuda/configuration.h"
#include "interpose/simcuda/contents.h"
#include "interpose/simcuda/dealt_blocks.h"
#include "interpose/simcuda/device.h"
#include "interpose/simcuda/host_memory.h"
#include "interpose/simcuda/progress.h"
#include "interpose/simcuda/virtual_memory.h"

namespace memoir::simcuda {

class Machine {
 public:
  // Says in one line what is wrong with `configuration`; then there are no devices.
  explicit Machine(const Configuration& configuration);

  int devices() const { return static_cast<int>(devices_.size()); }
  bool IsDevice(int ordinal) const { return ordinal >= 0 && ordinal < devices(); }
  Device& device(int ordinal) { return *devices_[static_cast<std::size_t>(ordinal)]; }
  // The device whose address it is, or nullptr.
  Device* DeviceOf(const void* address);

  const Profile& profile() const { return configuration_.profile; }
  const Workspaces& workspaces() const { return configuration_.workspaces; }
  const Configuration& configuration() const { return configuration_; }
  Contents& contents() { return contents_; }
  DealtBlocks& dealt_blocks() { return dealt_blocks_; }
  HostMemory& host_memory() { return host_memory_; }
  Progress& progress() { return progress_; }
  VirtualMemory& virtual_memory() { return virtual_memory_; }

 private:
  const Configuration configuration_;
  Contents contents_;
  DealtBlocks dealt_blocks_;
  HostMemory host_memory_;
  Progress progress_;
  std::vector<std::unique_ptr<Device>> devices_;
  VirtualMemory virtual_memory_;
};

// This process's. Its first use loads a library: not under a Mutex.
Machine& TheMachine();

// The calling thread's device; 0 until it chooses.
int CurrentDevice();
void SetCurrentDevice(int ordinal);  // one that IsDevice

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_MACHINE_H_
