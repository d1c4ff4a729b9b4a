// What a recording keeps more in every step, in text and JSON.
#ifndef TOOLS_VIEW_LIVES_LEAK_VIEW_H_
#define TOOLS_VIEW_LIVES_LEAK_VIEW_H_

#include <cstddef>
#include <string>
#include <vector>

#include "tools/analyze/lives/leak_holders.h"
#include "tools/analyze/lives/leaks.h"
#include "tools/model/capture.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// Leaks of one cause together, those that keep most first.
struct LeakGroup {
  std::vector<const Leak*> leaks;    // one at least, most bytes first
  const LeakCause* cause = nullptr;  // of several
};
std::vector<LeakGroup> GroupsOf(const Leaks& leaks);
// "train.py:40: +2.0 MiB each step, 40.0 MiB after 20 steps"; of several "train.py:40 and 4 other places, likely for
// one cause: +3.0 MiB each step, 60.0 MiB after 20 steps".
std::string LeakText(const Capture& capture, const LeakGroup& group);
// The words of the command that shows what was live at that point, without program and capture.
std::string LeakCommand(const Leak& leak);

// How many places leak; where none does, of how many steps, or why nothing is known.
std::string LeakHeadline(const Leaks& leaks);
bool AreLeaksKnown(const Leaks& leaks);
// Of some: `top` of them, 0: all; each with the command that shows more. `path`: of the capture, as it is typed.
// `holders`: of FindLeakHolders.
std::string RenderLeaks(const Capture& capture, const Leaks& leaks, const LeakHolders& holders, std::size_t top,
                        const std::string& path, const Terminal& terminal);
Json LeaksJson(const Capture& capture, const Leaks& leaks, const LeakHolders& holders, const std::string& path);

}  // namespace memoir

#endif  // TOOLS_VIEW_LIVES_LEAK_VIEW_H_
