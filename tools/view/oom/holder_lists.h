// Who held how much, in a line of text.
#ifndef TOOLS_VIEW_OOM_HOLDER_LISTS_H_
#define TOOLS_VIEW_OOM_HOLDER_LISTS_H_

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analyze/grouping/holdings.h"

namespace memoir {

// Escaped, and cut to what a line has room for.
std::string Named(std::string_view name);

// "a 3.0 MiB, b 2.0 MiB, others 1.0 MiB": they add up to the whole. `top` of them; 0: all.
std::string HolderList(const std::vector<Holder>& holders, std::size_t top);

// What modules of all layers hold as one: "blocks.*.mlp". Largest first.
std::vector<Holder> LayersMerged(const std::vector<Holder>& modules);

}  // namespace memoir

#endif  // TOOLS_VIEW_OOM_HOLDER_LISTS_H_
