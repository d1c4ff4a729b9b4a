// The tree of callers (tools/analyze/stacks/stack_tree.h) as text and JSON.
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
  std::size_t top = 10;      // about twice so many rows, the largest; 0: all
  std::uint32_t depth = 12;  // levels; 0: all
};

// A frame that has one callee and made nothing itself shares a row with it. What is left out is a row below its caller,
// so that each row is what stands below it.
std::string RenderStackTree(const Capture& capture, const StackTree& tree, const StackTextOptions& options,
                            const Terminal& terminal);
// All nodes in a list, each with the number of the one around it: stacks are deeper than readers of JSON like nesting.
Json StackTreeJson(const Capture& capture, const StackTree& tree);

}  // namespace memoir

#endif  // TOOLS_VIEW_STACKS_STACK_VIEW_H_
