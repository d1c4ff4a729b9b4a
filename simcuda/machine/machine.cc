#include "simcuda/machine/machine.h"

#include "simcuda/process/management_library.h"
#include "simcuda/process/mutex.h"
#include "simcuda/process/simulation_message.h"

namespace memoir::simcuda {
namespace {

thread_local int current_device = 0;

constinit LazyObject<Machine> the_machine;

}  // namespace

Machine::Machine(const Configuration& configuration)
    : configuration_(configuration), pinned_memory_(configuration.pinned), progress_(configuration.late) {
  if (!configuration.error.empty()) {
    PrintMessage(configuration.error + "; the program sees no GPU");
    return;
  }
  for (int ordinal = 0; ordinal < configuration.devices; ++ordinal)
    devices_.push_back(std::make_unique<Device>(ordinal, configuration_.profile, contents_, configuration_.others,
                                                configuration_.addresses));
  // A device without addresses would run out of memory at its first block. So there are no devices then;
  // ReserveAddresses has printed the cause.
  if (!devices_.front()->ReserveAddresses()) devices_.clear();
}

Device* Machine::DeviceOf(const void* address) {
  if (!contents_.IsDeviceMemory(address)) return nullptr;
  for (const auto& device : devices_) {
    if (device->Contains(reinterpret_cast<std::uint64_t>(address))) return device.get();
  }
  return nullptr;
}

Machine& TheMachine() {
  if (Machine* const made = the_machine.GetIfMade()) return *made;
  {
    const LibraryLoadLock load;
    if (the_machine.GetIfMade() == nullptr) LoadManagementLibrary();
  }
  return the_machine.Get([] { return new Machine(Configure(RequestOfEnvironment())); });
}

int CurrentDevice() { return current_device; }

void SetCurrentDevice(int ordinal) { current_device = ordinal; }

}  // namespace memoir::simcuda
