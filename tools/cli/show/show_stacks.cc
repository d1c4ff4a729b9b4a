#include "tools/analyze/stacks/stack_tree.h"
#include "tools/cli/show/show_view.h"
#include "tools/view/stacks/stack_view.h"

namespace memoir {
namespace {

ShownText Show(const ShowRequest& request) {
  StackTreeOptions options;
  static_cast<Selection&>(options) = request.selection;
  options.all_frames = request.arguments.json || request.arguments.top == 0u;
  const auto tree = AnalyzeStackTree(request.capture, options);
  if (!tree.ok()) return tree.status();
  if (request.arguments.json) return ToText(StackTreeJson(request.capture, *tree));
  StackTextOptions text{.top = request.top(10)};
  if (text.top == 0) text.depth = 0;
  if (request.arguments.depth) text.depth = *request.arguments.depth;
  return ChosenBlocksLine(request.selection) + RenderStackTree(request.capture, *tree, text, request.terminal);
}

}  // namespace

const ShowView kShowStacks = {
    .by = "stack",
    .by_help = "the tree of the callers of lines",
    .refuses_at = "--by stack is about a whole window and its peak; leave out --at, or use --by line",
    .shows_blocks = true,
    .has_lines = true,
    .has_levels = true,
    .show = Show,
};

}  // namespace memoir
