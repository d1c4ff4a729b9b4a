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
    bool is_module = false;                            // true: a module; `state` is empty
    bool counted = false;                              // the tensors were returned before
  };

  // Stores the tensors that an event lists. If the event is an optimizer's first step in the selection, returns the
  // optimizer's tensors, otherwise nullptr.
  const Holding* AddHolding(const HeldTensorsEvent& event, const Dictionary& dictionary, bool in_window);
  // Notes a module call in the selection. Returns the module's tensors at its first call, and nullptr at later calls.
  const Holding* CallModule(ModuleId module);

 private:
  static const Holding* Count(Holding& holding);

  std::map<ModuleId, Holding> modules_;          // pointers to entries stay valid
  std::map<std::uint64_t, Holding> optimizers_;  // by HeldTensorsEvent::owner
  std::map<ThreadId, Holding*> last_;            // by thread: the entry of its newest event
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_HOLDER_TENSORS_H_
