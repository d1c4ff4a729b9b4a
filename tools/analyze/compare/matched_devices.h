// Finds which device of one recording is compared with which device of the other.
#ifndef TOOLS_ANALYZE_COMPARE_MATCHED_DEVICES_H_
#define TOOLS_ANALYZE_COMPARE_MATCHED_DEVICES_H_

#include <vector>

#include "tools/analyze/compare/comparison.h"

namespace memoir {

// One device of a recording, with its holdings.
struct SideInputs {
  ComparedSide side;
  HeldDevice held;
};

// nullptr: the recording has no such device.
struct DevicePair {
  const SideInputs* a = nullptr;
  const SideInputs* b = nullptr;
};

// Matches devices by rank and name. If each recording has one process, its rank does not count, and if each then has
// one GPU that the other lacks, these two are a pair: ranks of one host use different GPUs. Devices of only one
// recording are pairs with a nullptr. First A's devices, ordered by rank and name, then those that only B has.
std::vector<DevicePair> MatchDevices(const std::vector<SideInputs>& a, const std::vector<SideInputs>& b);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_MATCHED_DEVICES_H_
