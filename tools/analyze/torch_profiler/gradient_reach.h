// Finds the tensors that depend on a gradient or a parameter in any of their versions.
#ifndef TOOLS_ANALYZE_TORCH_PROFILER_GRADIENT_REACH_H_
#define TOOLS_ANALYZE_TORCH_PROFILER_GRADIENT_REACH_H_

#include <vector>

#include "tools/analyze/torch_profiler/torch_rules.h"

namespace memoir {

// Returns the result by TensorId: torch's _any_version_depends_on_gradient. Its time is linear in the number of edges.
std::vector<bool> DependOnGradient(const EventTree& tree, const DataFlowGraph& graph, const CategoryTable& table);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TORCH_PROFILER_GRADIENT_REACH_H_
