// What modules and optimizers hold, as their last events of it say, and which of them torch.profiler would look at now.
#ifndef TOOLS_ANALYZE_DATA_FLOW_HELD_TENSORS_H_
#define TOOLS_ANALYZE_DATA_FLOW_HELD_TENSORS_H_

#include <cstdint>
#include <map>
#include <vector>

#include "tools/model/dictionary.h"
#include "tools/model/event.h"

namespace memoir {

class HeldTensors {
 public:
  struct Holding {
    std::vector<Tensor> parameters, gradients, state;  // impl == 0: none
    bool is_module = false;  // what it holds beside parameters and gradients are buffers, and no state
    bool counted = false;
  };

  // Of an event that says that an optimizer has made a step: what it holds then, at its first step in the window.
  const Holding* Take(const HoldsEvent& event, const Dictionary& dictionary, bool in_window);
  // A module is called in the window. nullptr: it was before, or holds nothing.
  const Holding* CallModule(ModuleId module);

 private:
  static const Holding* Count(Holding& holding);

  std::map<ModuleId, Holding> modules_;  // entries stay where they are
  std::map<std::uint64_t, Holding> optimizers_;
  std::map<ThreadId, Holding*> last_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_DATA_FLOW_HELD_TENSORS_H_
