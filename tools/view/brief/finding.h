// What a JSON document of a verb says first, in a sentence, and what to ask next.
//
// Pure.
#ifndef TOOLS_VIEW_BRIEF_FINDING_H_
#define TOOLS_VIEW_BRIEF_FINDING_H_

#include <string>
#include <vector>

#include "tools/view/json/json.h"

namespace memoir {

std::string FindingOf(const Json& whole);

// The words of the command between "memoir" and the capture, such as {"show", "--by", "line"}.
std::vector<std::string> NextAfter(const Json& whole);

}  // namespace memoir

#endif  // TOOLS_VIEW_BRIEF_FINDING_H_
