// A module call that has not ended, or that has live blocks which count (FollowedBlock::Counts()), and the call's bytes
// on each device.
#ifndef TOOLS_ANALYZE_CHECKPOINTING_FOLLOWED_CALL_H_
#define TOOLS_ANALYZE_CHECKPOINTING_FOLLOWED_CALL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "tools/analyze/checkpointing/call_tree.h"
#include "tools/analyze/checkpointing/checkpointed_peaks.h"
#include "tools/analyze/checkpointing/peak_history.h"
#include "tools/model/event/event.h"

namespace memoir {

struct CallOnDevice {
  DeviceId device;
  PeakHistory::Instant begin = 0;
  std::uint64_t live_at_begin = 0;
  std::uint64_t most = 0;      // most live bytes minus live_at_begin, up to the last operator that saves a tensor
  std::uint64_t settled = 0;   // bytes of settled blocks that do not leave the call
  std::uint64_t replaced = 0;  // bytes of blocks for which FollowedBlock::IsReplaced() holds
};

struct FollowedCall {
  bool ended = false;
  bool made_again = false;  // backward needed a block of the call, so the call was recomputed
  AlikeNumber alike = 0;
  std::uint32_t depth = 0;
  std::uint64_t blocks = 0;  // live blocks for which FollowedBlock::Counts() holds
  std::vector<CallOnDevice> devices;
  std::vector<std::size_t> held;  // indices in HeldInputs::held_
  // The slot and the ordinal of each block that settles when the call ends.
  std::vector<std::pair<std::uint32_t, std::uint64_t>> waiting;

  // Returns the entry for `device`, and adds it if it is missing. `peaks`: the peaks of `device`.
  CallOnDevice& FindDevice(DeviceId device, const CheckpointedPeaks& peaks) {
    const auto known = std::ranges::find(devices, device, &CallOnDevice::device);
    if (known != devices.end()) return *known;
    return devices.emplace_back(CallOnDevice{device, peaks.history().now(), peaks.live()});
  }
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CHECKPOINTING_FOLLOWED_CALL_H_
