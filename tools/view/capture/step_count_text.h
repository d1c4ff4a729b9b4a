// Formats a number of steps, with the kind of step that is counted in the recording.
#ifndef TOOLS_VIEW_CAPTURE_STEP_COUNT_TEXT_H_
#define TOOLS_VIEW_CAPTURE_STEP_COUNT_TEXT_H_

#include <cstdint>
#include <string>

#include "tools/analyze/pass/window/selection.h"

namespace memoir {

// Returns "10 optimizer steps" or "3 calls of the outermost module".
std::string StepCountText(std::uint64_t steps, StepSource source);

}  // namespace memoir

#endif  // TOOLS_VIEW_CAPTURE_STEP_COUNT_TEXT_H_
