// Prints the tree of nested ranges as text and JSON.
#ifndef TOOLS_VIEW_TREE_TREE_VIEW_H_
#define TOOLS_VIEW_TREE_TREE_VIEW_H_

#include <string>

#include "tools/analyze/tree/range_tree.h"
#include "tools/model/capture.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

std::string RenderTree(const Capture& capture, const RangeTree& tree, const Terminal& terminal);
Json TreeJson(const Capture& capture, const RangeTree& tree);

}  // namespace memoir

#endif  // TOOLS_VIEW_TREE_TREE_VIEW_H_
