// Module paths whose numbers do not count: what the layers of a model have in common.
#ifndef TOOLS_ANALYZE_PASS_LAYER_PATTERN_H_
#define TOOLS_ANALYZE_PASS_LAYER_PATTERN_H_

#include <string>
#include <string_view>

namespace memoir {

// "blocks.3.mlp.fc1" as "blocks.*.mlp.fc1".
std::string WithLayersMerged(std::string_view path);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_PASS_LAYER_PATTERN_H_
