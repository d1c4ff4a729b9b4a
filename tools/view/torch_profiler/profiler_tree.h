// The event tree as text, as PyTorch's own tests of its profiler print it (ProfilerTree.format in
// test/profiler/test_profiler_tree.py): a line for each event, two spaces a level, without what differs between two
// runs of one program.
#ifndef TOOLS_VIEW_TORCH_PROFILER_PROFILER_TREE_H_
#define TOOLS_VIEW_TORCH_PROFILER_PROFILER_TREE_H_

#include <functional>
#include <string>
#include <string_view>

#include "tools/analyze/data_flow/event_tree.h"

namespace memoir {

// `memory`: with "[memory]" for each allocation and free, as torch.profiler has them with profile_memory.
void WriteProfilerTree(const EventTree& tree, bool memory, const std::function<void(std::string_view)>& write);

// A name as ProfilerTree.fmt_name prints it: no line numbers, addresses, or arguments of kernels.
std::string ProfilerTreeName(std::string_view name);

}  // namespace memoir

#endif  // TOOLS_VIEW_TORCH_PROFILER_PROFILER_TREE_H_
