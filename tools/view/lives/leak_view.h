// Prints leaks (memory that grows in every step) as text and JSON.
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

// Several leaks with the same cause, or a single leak.
struct LeakGroup {
  std::vector<const Leak*> leaks;    // at least one, most bytes first
  const LeakCause* cause = nullptr;  // set if there are several leaks
};
std::vector<LeakGroup> GroupsOf(const Leaks& leaks);
// Returns "train.py:40: +2.0 MiB each step, 40.0 MiB after 20 steps". For several leaks: "train.py:40 and 4 other
// places, likely for one cause: +3.0 MiB each step, 60.0 MiB after 20 steps".
std::string LeakText(const Capture& capture, const LeakGroup& group);

// Returns the number of places that leak. If nothing leaks: the number of steps examined, or why nothing is known.
std::string LeakHeadline(const Leaks& leaks);
bool AreLeaksKnown(const Leaks& leaks);
// Prints `top` leaks (0: all), each with the command that shows more. `leaks` must contain a leak. `path`: path of the
// capture as typed. `holders`: the result of FindLeakHolders.
std::string RenderLeaks(const Capture& capture, const Leaks& leaks, const LeakHolders& holders, std::size_t top,
                        const std::string& path, const Terminal& terminal);
Json LeaksJson(const Capture& capture, const Leaks& leaks, const LeakHolders& holders, const std::string& path);

}  // namespace memoir

#endif  // TOOLS_VIEW_LIVES_LEAK_VIEW_H_
