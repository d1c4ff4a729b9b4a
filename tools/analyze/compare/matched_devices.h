// Finds which device of one capture is compared with which device of the other.
#ifndef TOOLS_ANALYZE_COMPARE_MATCHED_DEVICES_H_
#define TOOLS_ANALYZE_COMPARE_MATCHED_DEVICES_H_

#include <vector>

#include "tools/analyze/compare/comparison.h"

namespace memoir {

// One device of a capture, with its holdings.
struct SideInputs {
  ComparedSide side;
  HeldDevice held;
};

// Two devices that are compared. nullptr: the capture has no such device.
struct DevicePair {
  const SideInputs* a = nullptr;
  const SideInputs* b = nullptr;
};

// Matches devices by rank and name. If each capture has one process, ranks are ignored. If, in addition, each of these
// captures has one GPU that the other lacks, the two GPUs are a pair, because ranks of one host use different GPUs. A
// device of only one capture is a pair with a nullptr. Pairs with a device of A come first, ordered by rank and name.
std::vector<DevicePair> MatchDevices(const std::vector<SideInputs>& a, const std::vector<SideInputs>& b);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_COMPARE_MATCHED_DEVICES_H_
