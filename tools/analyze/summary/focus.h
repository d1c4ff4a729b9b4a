// A summary limited to the devices that matter: where a program uses a GPU, tensors on the host are left out, because
// sums of both mean nothing.
#ifndef TOOLS_ANALYZE_SUMMARY_FOCUS_H_
#define TOOLS_ANALYZE_SUMMARY_FOCUS_H_

#include "tools/analyze/summary/summary.h"

namespace memoir {

// Whether the device is one of those that a text is about: all where none has a caching allocator, else those.
bool InFocus(const Summary& summary, const DeviceRow& device);

// The same summary with rows, phases and compiled regions of the devices in focus alone; `devices` stay
// all. Calls stay, too: they are of no device.
Summary Focus(const Summary& summary);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_FOCUS_H_
