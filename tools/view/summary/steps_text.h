// The number of steps of a recording, and the kind of its steps.
#ifndef TOOLS_VIEW_SUMMARY_STEPS_TEXT_H_
#define TOOLS_VIEW_SUMMARY_STEPS_TEXT_H_

#include <string>

#include "tools/analyze/summary/summary.h"

namespace memoir {

// Returns "10 optimizer steps" or "6 steps (in the last one nothing was allocated)". Empty without steps. Also empty
// for a single call of a module, which does not count as a step: pytest calls a module in each test.
std::string StepsText(const Summary& summary);

}  // namespace memoir

#endif  // TOOLS_VIEW_SUMMARY_STEPS_TEXT_H_
