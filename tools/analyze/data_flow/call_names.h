// How torch.profiler names calls of Python functions: "torch/_tensor.py(0): __torch_function__", and where the function
// is Module.__call__, after the module: "nn.Module: Linear_1", the second one of its class that was called.
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
#include "tools/model/event.h"

namespace memoir {

// All of one process; numbers are of EventTree::names.
class CallNames {
 public:
  // Of the program's main file, whose folder torch.profiler leaves out.
  explicit CallNames(std::string program = "") : program_(std::move(program)) {}

  // What `nodes` is to hold of a call that begins, after what was over without a word.
  TorchOpenNodes::Node Begins(const CallEvent& event, TorchOpenNodes& nodes, const Dictionary& dictionary);
  std::uint32_t Of(CodeId code, const Dictionary& dictionary, EventTree& tree);
  std::uint32_t OfModule(ModuleId module, const Dictionary& dictionary, EventTree& tree);

 private:
  const std::string program_;
  CalledCodes facts_;
  std::string folder_;  // of the program, once it is known
  std::vector<std::uint32_t> of_code_, of_module_;
  std::uint32_t unknown_ = TreeNode::kNone;
  absl::flat_hash_map<std::string, std::uint32_t> called_;  // modules by class
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_CALL_NAMES_H_
