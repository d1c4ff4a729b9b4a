// Prints the tree of callers (tools/analyze/stacks/stack_tree.h) as text and JSON.
#ifndef TOOLS_VIEW_STACKS_STACK_VIEW_H_
#define TOOLS_VIEW_STACKS_STACK_VIEW_H_

#include <cstddef>
#include <cstdint>
#include <string>

#include "tools/analyze/stacks/stack_tree.h"
#include "tools/model/capture.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

struct StackTextOptions {
  std::size_t top = 10;      // the tree has about 2 * `top` rows, for the largest frames; 0: all
  std::uint32_t depth = 12;  // levels; 0: all
};

// A frame with one callee and without own allocations shares a row with the callee. Omitted frames are summed in a row
// below their caller, so each row is the sum of the rows below it.
std::string RenderStackTree(const Capture& capture, const StackTree& tree, const StackTextOptions& options,
                            const Terminal& terminal);
// Returns all nodes as a list, each with the number of its parent, because JSON readers limit nesting and stacks are
// deep.
Json StackTreeJson(const Capture& capture, const StackTree& tree);

}  // namespace memoir

#endif  // TOOLS_VIEW_STACKS_STACK_VIEW_H_
