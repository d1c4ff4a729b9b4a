// The owners of the driver's blocks: the role of the library that called (driver_role.h), else its file name.
#ifndef TOOLS_ANALYZE_GROUPING_DRIVER_HOLDERS_H_
#define TOOLS_ANALYZE_GROUPING_DRIVER_HOLDERS_H_

#include <cstdint>
#include <vector>

#include "tools/analyze/driver/driver_role.h"
#include "tools/analyze/grouping/holdings.h"
#include "tools/model/capture.h"

namespace memoir {

// Of a device, outside of torch's caching allocator: what lies there for certain. Largest first; the names are unique.
std::vector<Holder> OutsideTorch(const ReplayState& state, DeviceId device);
// Of the process's pinned host memory.
std::vector<Holder> PinnedBy(const ReplayState& state);
std::uint64_t OutsideTorchBytes(const ReplayState& state, DeviceId device);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_GROUPING_DRIVER_HOLDERS_H_
