// Maps autograd sequence numbers to forward operators, for one thread. A replay looks up an autograd node in this map,
// to find the module, the Python stack and the compiled region of the node's forward operator.
#ifndef TOOLS_MODEL_REPLAY_STATE_FORWARD_OPERATORS_H_
#define TOOLS_MODEL_REPLAY_STATE_FORWARD_OPERATORS_H_

#include "tools/model/event/ids.h"
#include "tools/model/sequence_map.h"

namespace memoir {

struct ForwardOperator {
  ModuleId module;    // invalid: the operator ran in no module
  StackId callstack;  // Python stack; invalid: unknown
  NameId region;      // the compiled region in which the operator ran; invalid: none
};

using ForwardOperators = SequenceMap<ForwardOperator>;

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_STATE_FORWARD_OPERATORS_H_
