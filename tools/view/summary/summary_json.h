// The tables of `memoir show` as JSON (docs/json.md), with exact numbers.
#ifndef TOOLS_VIEW_SUMMARY_SUMMARY_JSON_H_
#define TOOLS_VIEW_SUMMARY_SUMMARY_JSON_H_

#include <cstddef>

#include "tools/analyze/summary/summary.h"
#include "tools/model/capture.h"
#include "tools/view/json/json.h"

namespace memoir {

// `top`: rows of the grouping; the others are summed in a row "(other)"; 0: all.
Json SummaryJson(const Capture& capture, const Summary& summary, std::size_t top);

// Returns an element of `devices`.
Json DeviceJson(const DeviceRow& device, const ReplayReport& report);

}  // namespace memoir

#endif  // TOOLS_VIEW_SUMMARY_SUMMARY_JSON_H_
