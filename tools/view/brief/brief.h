// Shortens the JSON document of a command to at most 4 KiB, for programs that can read only a little at a time
// (docs/json.md, "--brief"). The short document contains the finding, the rows that show the finding, and the next
// command.
//
// Does no I/O. The bound holds for any names: texts are cut in their middle, and rows that do not fit are counted.
#ifndef TOOLS_VIEW_BRIEF_BRIEF_H_
#define TOOLS_VIEW_BRIEF_BRIEF_H_

#include <cstddef>
#include <string>

#include "tools/view/json/json.h"

namespace memoir {

inline constexpr std::size_t kMostBriefBytes = 4096;

// Returns the shortened document. `next`: the next command, as it can be typed. `without_path`: the next command with
// the word CAPTURE or COMMAND in place of the path or the recorded command; used if `next` is too long.
std::string BriefText(const Json& whole, const std::string& next, const std::string& without_path);

}  // namespace memoir

#endif  // TOOLS_VIEW_BRIEF_BRIEF_H_
