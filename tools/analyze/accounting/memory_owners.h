// The owners of the memory of a device and of the host, at one point of a replay.
#ifndef TOOLS_ANALYZE_ACCOUNTING_MEMORY_OWNERS_H_
#define TOOLS_ANALYZE_ACCOUNTING_MEMORY_OWNERS_H_

#include "tools/analyze/accounting/balance.h"
#include "tools/model/capture.h"

namespace memoir {

// Fills in the rows, their sum, the unexplained bytes, and the figures that are not part of the sum. `balance` must
// already contain the device sample.
void TakeHoldings(const ReplayState& state, DeviceId device, DeviceBalance& balance);

// Returns the host memory of the current process.
HostBalance TakeHostBalance(const ReplayState& state);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_ACCOUNTING_MEMORY_OWNERS_H_
