// Where the forward operator with an autograd sequence number ran, for one thread: by it a backward node finds its
// module, its line and its compiled region.
#ifndef TOOLS_MODEL_FORWARD_OPERATORS_H_
#define TOOLS_MODEL_FORWARD_OPERATORS_H_

#include "tools/model/by_sequence.h"
#include "tools/model/ids.h"

namespace memoir {

struct ForwardOperator {
  ModuleId module;    // invalid: it ran in none
  StackId callstack;  // of Python; invalid: not known
  NameId region;      // that torch.compile made, in which it ran; invalid: none
};

using ForwardOperators = BySequence<ForwardOperator>;

}  // namespace memoir

#endif  // TOOLS_MODEL_FORWARD_OPERATORS_H_
