// The memory of each device of the current process, as the device's caching allocator counts it.
#ifndef TOOLS_MODEL_REPLAY_STATE_DEVICE_MEMORIES_H_
#define TOOLS_MODEL_REPLAY_STATE_DEVICE_MEMORIES_H_

#include <memory>
#include <vector>

#include "tools/model/device_memory.h"
#include "tools/model/event/ids.h"

namespace memoir {

class DeviceMemories {
 public:
  // Returns the memory of a device. Adds it if it is new.
  DeviceMemory& Of(DeviceId device) {
    if (device.value >= memories_.size()) memories_.resize(device.value + 1);
    std::unique_ptr<DeviceMemory>& memory = memories_[device.value];
    if (memory == nullptr) memory = std::make_unique<DeviceMemory>();
    return *memory;
  }
  // Returns the memory of a device. Empty if the device is unknown.
  const DeviceMemory& Find(DeviceId device) const {
    static const DeviceMemory none;
    return device.value < memories_.size() && memories_[device.value] != nullptr ? *memories_[device.value] : none;
  }
  // True if a caching allocator manages the device.
  bool IsCaching(DeviceId device) const {
    return device.value < memories_.size() && memories_[device.value] != nullptr && memories_[device.value]->caching();
  }
  // Call this function for each visited event of `thread` that adds a block, changes a segment, or reports numbers of
  // the device. `found`: the event adds a block or segment that already existed when the recording began or resumed.
  void NoteFinding(DeviceId device, ThreadId thread, bool found) {
    found ? Of(device).BeginFinding(thread.value) : Of(device).EndFinding(thread.value);
  }

  void ForgetSegments() {
    for (const std::unique_ptr<DeviceMemory>& memory : memories_) {
      if (memory != nullptr) memory->ForgetSegments();
    }
  }
  // Called when the process ends.
  void Clear() { memories_.clear(); }

 private:
  std::vector<std::unique_ptr<DeviceMemory>> memories_;  // by DeviceId; nullptr: Of was not called for the device
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_STATE_DEVICE_MEMORIES_H_
