// The owners of memory, in a line of text.
#ifndef TOOLS_VIEW_OOM_HOLDER_LISTS_H_
#define TOOLS_VIEW_OOM_HOLDER_LISTS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analyze/grouping/holdings.h"

namespace memoir {

// Escapes the name and shortens it for a line.
std::string QuotedHolder(std::string_view name);

// Returns "a 3.0 MiB, b 2.0 MiB, others 1.0 MiB", which sum to the whole. `top`: number of names; 0: all.
std::string HolderList(const std::vector<HoldingRow>& holders, std::size_t top);

// Merges the same module of all layers into "blocks.*.mlp". Largest first.
std::vector<HoldingRow> LayersMerged(const std::vector<HoldingRow>& modules);

}  // namespace memoir

#endif  // TOOLS_VIEW_OOM_HOLDER_LISTS_H_
