// Replaces the numbers in module paths, so that the layers of a model have the same path.
#ifndef TOOLS_ANALYZE_PASS_LAYER_PATTERN_H_
#define TOOLS_ANALYZE_PASS_LAYER_PATTERN_H_

#include <string>
#include <string_view>

namespace memoir {

// Returns "blocks.*.mlp.fc1" for "blocks.3.mlp.fc1".
std::string WithLayersMerged(std::string_view path);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_LAYER_PATTERN_H_
