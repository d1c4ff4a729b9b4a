// The devices of a summary as text, a few lines each: GPUs first, then host memory, each by peak.
#ifndef TOOLS_VIEW_CAPTURE_DEVICE_TEXT_H_
#define TOOLS_VIEW_CAPTURE_DEVICE_TEXT_H_

#include <cstddef>
#include <string>

#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// Returns "2 retries" or "retries not known".
std::string RetriesText(const DeviceRow& device);

// Returns ", forward of layers.3.mlp" if a module ran at the peak, otherwise ", range train". Empty if there was
// neither.
std::string PeakRangeText(const DeviceRow& device);

// Returns the index of the device that a text about a single device describes. There must be a device.
std::size_t LargestDevice(const Summary& summary);

// Prints at most `top` devices, but at least 4 if there are so many; 0: all.
std::string RenderDevices(const Capture& capture, const Summary& summary, std::size_t top, const Terminal& terminal);

// Returns " on cuda:0" if the rows do not cover all devices (analyze/summary/device_focus.h); otherwise empty.
std::string SelectedDevicesText(const Summary& summary);

}  // namespace memoir

#endif  // TOOLS_VIEW_CAPTURE_DEVICE_TEXT_H_
