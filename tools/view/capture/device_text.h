// Prints the devices of a summary, with a few lines for each device. GPUs come before host memory. Among GPUs, and
// among hosts, larger peaks come first.
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

// Returns ", forward of layers.3.mlp" if a module ran at the peak, otherwise ", range train". Empty if no module and no
// range ran at the peak.
std::string PeakRangeText(const DeviceRow& device);

// Returns the index of the GPU with the largest peak, or without a GPU of the device with the largest peak. `summary`
// must have a device.
std::size_t LargestDevice(const Summary& summary);

// Prints at most max(`top`, 4) devices. If `top` is 0, prints all devices.
std::string RenderDevices(const Capture& capture, const Summary& summary, std::size_t top, const Terminal& terminal);

// Returns " on cuda:0" or " on GPUs". Empty if the rows cover all devices (analyze/summary/device_focus.h).
std::string SelectedDevicesText(const Summary& summary);

}  // namespace memoir

#endif  // TOOLS_VIEW_CAPTURE_DEVICE_TEXT_H_
