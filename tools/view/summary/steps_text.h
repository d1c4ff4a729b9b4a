// How many steps a recording has, and of what.
#ifndef TOOLS_VIEW_SUMMARY_STEPS_TEXT_H_
#define TOOLS_VIEW_SUMMARY_STEPS_TEXT_H_

#include <string>

#include "tools/analyze/summary/summary.h"

namespace memoir {

// "10 optimizer steps", "3 calls of the outermost module", "6 steps (in the last one nothing was allocated)".
std::string StepsText(const Summary& summary);

}  // namespace memoir

#endif  // TOOLS_VIEW_SUMMARY_STEPS_TEXT_H_
