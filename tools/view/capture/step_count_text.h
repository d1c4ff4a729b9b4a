// Formats a number of steps with the name of what counts as a step in the recording.
#ifndef TOOLS_VIEW_CAPTURE_STEP_COUNT_TEXT_H_
#define TOOLS_VIEW_CAPTURE_STEP_COUNT_TEXT_H_

#include <cstdint>
#include <string>

#include "tools/analyze/pass/window/selection.h"

namespace memoir {

// "10 optimizer steps", "3 calls of the outermost module".
std::string StepCountText(std::uint64_t steps, StepSource source);

}  // namespace memoir

#endif  // TOOLS_VIEW_CAPTURE_STEP_COUNT_TEXT_H_
