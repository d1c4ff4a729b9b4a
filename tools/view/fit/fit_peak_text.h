// The owners of a simulated device's memory at its peak: context, torch and libraries. Torch's part is listed by
// operator, module and phase.
#ifndef TOOLS_VIEW_FIT_FIT_PEAK_TEXT_H_
#define TOOLS_VIEW_FIT_FIT_PEAK_TEXT_H_

#include <string>

#include "tools/analyze/fit/fit.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// Returns tables. `when` is appended to "The peak of device 0", such as ", up to then". Empty if no device was used.
std::string RenderFitPeak(const FitRun& run, const std::string& when, const Terminal& terminal);

// Returns the owners in a paragraph: "context 500.0 MiB, torch 40.0 GiB reserved, of which ...".
std::string FitPeakWords(const FitRun& run);

}  // namespace memoir

#endif  // TOOLS_VIEW_FIT_FIT_PEAK_TEXT_H_
