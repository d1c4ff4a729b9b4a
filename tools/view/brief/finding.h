// Describes the JSON document of a command in one sentence, and chooses the next command.
//
// Does no I/O.
#ifndef TOOLS_VIEW_BRIEF_FINDING_H_
#define TOOLS_VIEW_BRIEF_FINDING_H_

#include <string>
#include <vector>

#include "tools/view/json/json.h"

namespace memoir {

std::string FindingOf(const Json& whole);

// Returns the words between "memoir" and the capture, such as {"show", "--by", "line"}.
std::vector<std::string> NextAfter(const Json& whole);

}  // namespace memoir

#endif  // TOOLS_VIEW_BRIEF_FINDING_H_
