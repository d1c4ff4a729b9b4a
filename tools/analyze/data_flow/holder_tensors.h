// The current tensors of modules and optimizers, and which of these tensors torch.profiler would read at an event.
#ifndef TOOLS_ANALYZE_DATA_FLOW_HOLDER_TENSORS_H_
#define TOOLS_ANALYZE_DATA_FLOW_HOLDER_TENSORS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "tools/model/event/dictionary.h"
#include "tools/model/event/event.h"

namespace memoir {

class HolderTensors {
 public:
  struct Holding {
    std::vector<Tensor> parameters, gradients, state;  // impl is 0 for an undefined tensor
    bool is_module = false;                            // true: a module, and `state` contains its buffers
    bool counted = false;
  };

  // Stores the tensors that an event lists. Returns them if the event is an optimizer's first step in the window of the
  // selection, otherwise nullptr.
  const Holding* AddHolding(const HoldsEvent& event, const Dictionary& dictionary, bool in_window);
  // Notes a module call in the window. Returns the tensors at the module's first call; nullptr at later calls, or if
  // the module holds no tensors.
  const Holding* CallModule(ModuleId module);

 private:
  static const Holding* Count(Holding& holding);

  std::map<ModuleId, Holding> modules_;  // pointers to entries stay valid
  std::map<std::uint64_t, Holding> optimizers_;
  std::map<ThreadId, Holding*> last_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_HOLDER_TENSORS_H_
