// Limits a summary to the devices that matter. If a program uses a GPU, host tensors are left out, because sums over
// host and GPU have no meaning.
#ifndef TOOLS_ANALYZE_SUMMARY_DEVICE_FOCUS_H_
#define TOOLS_ANALYZE_SUMMARY_DEVICE_FOCUS_H_

#include "tools/analyze/summary/summary.h"

namespace memoir {

// Returns true if the printed summary describes the device. If any device has a caching allocator, the summary
// describes only such devices; otherwise all devices.
bool IsInFocus(const Summary& summary, const DeviceRow& device);

// Returns the summary with rows, phases and compiled regions of the devices in focus. `devices` stays complete. Numbers
// of calls do not change, because a call does not belong to a device.
Summary FocusSummary(const Summary& summary);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_DEVICE_FOCUS_H_
