// A JSON document of a verb in at most 4 KiB, for a program that reads with little room: what was found, the rows that
// show it, and the next command (docs/json.md, "--brief").
//
// Pure. The bound holds whatever the names are: texts are cut in their middle, rows that find no room are counted.
#ifndef TOOLS_VIEW_BRIEF_BRIEF_H_
#define TOOLS_VIEW_BRIEF_BRIEF_H_

#include <cstddef>
#include <string>

#include "tools/view/json/json.h"

namespace memoir {

inline constexpr std::size_t kMostBriefBytes = 4096;

// `next`: the command, as it can be typed; `without_path`: the same with CAPTURE or COMMAND in place of what was given,
// where that is too long.
std::string BriefText(const Json& whole, const std::string& next, const std::string& without_path);

}  // namespace memoir

#endif  // TOOLS_VIEW_BRIEF_BRIEF_H_
