// Prints the lives of the blocks that `memoir explain` finds (BlockStory), as text and JSON.
#ifndef TOOLS_VIEW_LIVES_EXPLAIN_VIEW_H_
#define TOOLS_VIEW_LIVES_EXPLAIN_VIEW_H_

#include <cstddef>
#include <string>

#include "tools/analyze/lives/explain.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// Prints the `top` newest stories; 0: all.
std::string RenderExplanation(const Capture& capture, const Explanation& explanation, std::size_t top,
                              const Terminal& terminal);
Json ExplanationJson(const Capture& capture, const Explanation& explanation);

}  // namespace memoir

#endif  // TOOLS_VIEW_LIVES_EXPLAIN_VIEW_H_
