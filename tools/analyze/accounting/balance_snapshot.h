// The owners of the memory of a device and of the host, at one point of a replay.
#ifndef TOOLS_ANALYZE_ACCOUNTING_BALANCE_SNAPSHOT_H_
#define TOOLS_ANALYZE_ACCOUNTING_BALANCE_SNAPSHOT_H_

#include "tools/analyze/accounting/balance.h"
#include "tools/model/capture.h"

namespace memoir {

// The rows and what is beside them; `balance` has the reading already.
void TakeHoldings(const ReplayState& state, DeviceId device, DeviceBalance& balance);

// Of the process in hand.
HostBalance TakeHostBalance(const ReplayState& state);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_ACCOUNTING_BALANCE_SNAPSHOT_H_
