// The owners of driver allocations. The name of an owner is a role (driver_role.h), or the file name of the library
// that allocated the memory.
#ifndef TOOLS_ANALYZE_GROUPING_DRIVER_HOLDINGS_H_
#define TOOLS_ANALYZE_GROUPING_DRIVER_HOLDINGS_H_

#include <cstdint>
#include <vector>

#include "tools/analyze/driver/driver_role.h"
#include "tools/analyze/grouping/holdings.h"
#include "tools/model/capture.h"

namespace memoir {

// Returns the owners of device memory outside of torch's caching allocator, largest first. Each name occurs once.
// Leaves out memory that may reside outside of the device.
std::vector<HoldingRow> HoldingsOutsideTorch(const ReplayState& state, DeviceId device);
// Returns the owners of the process's pinned host memory.
std::vector<HoldingRow> PinnedHoldings(const ReplayState& state);
// Returns the bytes of all owners that HoldingsOutsideTorch returns.
std::uint64_t BytesOutsideTorch(const ReplayState& state, DeviceId device);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_GROUPING_DRIVER_HOLDINGS_H_
