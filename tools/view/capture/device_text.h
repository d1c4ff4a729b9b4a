// The devices of a summary, a line or two each: GPUs before hosts, then by their peaks.
#ifndef TOOLS_VIEW_CAPTURE_DEVICE_TEXT_H_
#define TOOLS_VIEW_CAPTURE_DEVICE_TEXT_H_

#include <cstddef>
#include <string>

#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// "2 retries"; "retries not known".
std::string RetriesText(const DeviceRow& device);

// Which of `devices` a text is about that shows one alone; there must be one.
std::size_t LargestDevice(const Summary& summary);

// At most `top` of them (0: all), never fewer than a few.
std::string RenderDevices(const Capture& capture, const Summary& summary, std::size_t top, const Terminal& terminal);

// " on cuda:0" where the rows are not of all devices (analyze/focus.h), else "".
std::string WhichDevices(const Summary& summary);

}  // namespace memoir

#endif  // TOOLS_VIEW_CAPTURE_DEVICE_TEXT_H_
