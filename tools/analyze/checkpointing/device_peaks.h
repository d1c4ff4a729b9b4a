// The recorded peak and the peaks with checkpointing of each device of the current process.
#ifndef TOOLS_ANALYZE_CHECKPOINTING_DEVICE_PEAKS_H_
#define TOOLS_ANALYZE_CHECKPOINTING_DEVICE_PEAKS_H_

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "tools/analyze/checkpointing/checkpointed_peaks.h"
#include "tools/model/event/event.h"

namespace memoir {

class DevicePeaks {
 public:
  using Device = std::pair<DeviceId, CheckpointedPeaks>;

  // Returns the devices in the order of their first event. A device stays at its index until Clear().
  std::vector<Device>& all() { return devices_; }
  // The device must have been added.
  CheckpointedPeaks& operator[](DeviceId device) { return Find(device)->second; }
  // Returns nullptr if the device was not added.
  CheckpointedPeaks* FindIfAdded(DeviceId device) {
    const auto known = Find(device);
    return known == devices_.end() ? nullptr : &known->second;
  }
  CheckpointedPeaks& Add(DeviceId device) { return devices_.emplace_back(device, CheckpointedPeaks()).second; }
  void Clear() { devices_.clear(); }

 private:
  std::vector<Device>::iterator Find(DeviceId device) { return std::ranges::find(devices_, device, &Device::first); }

  std::vector<Device> devices_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CHECKPOINTING_DEVICE_PEAKS_H_
