// The names of calls of Python functions in torch.profiler's exports: "torch/_tensor.py(0): __torch_function__". A call
// of Module.__call__ has the name of its module: "nn.Module: Linear_1" is the second Linear that was called.
#ifndef TOOLS_ANALYZE_DATA_FLOW_CALL_NAMES_H_
#define TOOLS_ANALYZE_DATA_FLOW_CALL_NAMES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/analyze/data_flow/event_tree.h"
#include "tools/analyze/data_flow/torch_open_nodes.h"
#include "tools/analyze/grouping/called_code.h"
#include "tools/model/event/event.h"

namespace memoir {

// The names in one process. IndexOf and IndexOfModule return indices in EventTree::names.
class CallNames {
 public:
  // `program`: path of the main file. torch.profiler omits the folder of this file from names.
  explicit CallNames(std::string program = "") : program_(std::move(program)) {}

  // Returns the node of a call that begins. First closes calls whose ends were not recorded.
  TorchOpenNodes::Node BeginCall(const CallEvent& event, TorchOpenNodes& nodes, const Dictionary& dictionary);
  std::uint32_t IndexOf(CodeId code, const Dictionary& dictionary, EventTree& tree);
  std::uint32_t IndexOfModule(ModuleId module, const Dictionary& dictionary, EventTree& tree);

 private:
  const std::string program_;
  CalledCodes facts_;
  std::string folder_;                              // folder of the program; empty while unknown
  std::vector<std::uint32_t> of_code_, of_module_;  // by CodeId and by ModuleId: index of the name
  std::uint32_t unknown_ = TreeNode::kNone;
  absl::flat_hash_map<std::string, std::uint32_t> called_;  // number of called modules, by class
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_CALL_NAMES_H_
