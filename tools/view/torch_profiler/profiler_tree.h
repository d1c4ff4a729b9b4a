// Prints the event tree as text, as PyTorch's own tests of its profiler do (ProfilerTree.format in
// test/profiler/test_profiler_tree.py). The text has a line for each event, with two spaces for each level. It omits
// parts that differ between two runs of one program.
#ifndef TOOLS_VIEW_TORCH_PROFILER_PROFILER_TREE_H_
#define TOOLS_VIEW_TORCH_PROFILER_PROFILER_TREE_H_

#include <functional>
#include <string>
#include <string_view>

#include "tools/analyze/data_flow/event_tree.h"

namespace memoir {

// If `memory` is true, prints "[memory]" for each allocation and free, as torch.profiler does with profile_memory=True.
// `write` receives the text in order.
void WriteProfilerTree(const EventTree& tree, bool memory, const std::function<void(std::string_view)>& write);

// Returns a name as ProfilerTree.fmt_name prints it, without line numbers, addresses and kernel arguments.
std::string ProfilerTreeName(std::string_view name);

}  // namespace memoir

#endif  // TOOLS_VIEW_TORCH_PROFILER_PROFILER_TREE_H_
