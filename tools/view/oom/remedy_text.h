// Changes that would have made room for a refused request, as far as the recording shows them.
#ifndef TOOLS_VIEW_OOM_REMEDY_TEXT_H_
#define TOOLS_VIEW_OOM_REMEDY_TEXT_H_

#include <string>

#include "tools/analyze/summary/summary.h"

namespace memoir {

// Returns the remedies, the most useful first. Empty if the recording shows no remedy.
std::string RemedyText(const OutOfMemory& error, const Summary& summary);

}  // namespace memoir

#endif  // TOOLS_VIEW_OOM_REMEDY_TEXT_H_
