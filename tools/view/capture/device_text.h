// The devices of a summary as text, a few lines each: first GPUs, then host memory, both with the largest peaks first.
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

// Returns the index of the GPU with the largest peak, or without a GPU of the device with the largest peak. There must
// be a device.
std::size_t LargestDevice(const Summary& summary);

// Prints max(`top`, 4) devices, if there are so many; 0: all.
std::string RenderDevices(const Capture& capture, const Summary& summary, std::size_t top, const Terminal& terminal);

// Returns " on cuda:0" or " on GPUs". Empty if the rows cover all devices (analyze/summary/device_focus.h).
std::string SelectedDevicesText(const Summary& summary);

}  // namespace memoir

#endif  // TOOLS_VIEW_CAPTURE_DEVICE_TEXT_H_
