// Prints the event tree as text, as PyTorch's own tests of its profiler do (ProfilerTree.format in
// test/profiler/test_profiler_tree.py): a line for each event, two spaces for each level, without parts that differ
// between two runs of one program.
#ifndef TOOLS_VIEW_TORCH_PROFILER_PROFILER_TREE_H_
#define TOOLS_VIEW_TORCH_PROFILER_PROFILER_TREE_H_

#include <functional>
#include <string>
#include <string_view>

#include "tools/analyze/data_flow/event_tree.h"

namespace memoir {

// `memory`: print "[memory]" for each allocation and free, as torch.profiler has with profile_memory.
void WriteProfilerTree(const EventTree& tree, bool memory, const std::function<void(std::string_view)>& write);

// Returns a name as ProfilerTree.fmt_name prints it, without line numbers, addresses and kernel arguments.
std::string ProfilerTreeName(std::string_view name);

}  // namespace memoir

#endif  // TOOLS_VIEW_TORCH_PROFILER_PROFILER_TREE_H_
