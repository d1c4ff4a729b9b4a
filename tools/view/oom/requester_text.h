// The origin of a refused request as text: the running operator or module, and the line of the program.
#ifndef TOOLS_VIEW_OOM_REQUESTER_TEXT_H_
#define TOOLS_VIEW_OOM_REQUESTER_TEXT_H_

#include <string>

#include "tools/analyze/oom/out_of_memory.h"

namespace memoir {

// Returns "aten::mm in layers.3.mlp.fc1 (Linear), backward, step 7".
std::string RequestPlaceText(const OutOfMemory& error);
// Returns "net.py:12 Net.forward, in layers.3.mlp"; in backward "backward of net.py:12 Net.forward, in layers.3.mlp,
// called by train.py:90 main". The error must have a line.
std::string RequesterText(const OutOfMemory& error);

}  // namespace memoir

#endif  // TOOLS_VIEW_OOM_REQUESTER_TEXT_H_
