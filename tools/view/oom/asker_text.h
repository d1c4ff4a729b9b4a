// Who asked for what there was no room for, in words: what ran, and the line of the program.
#ifndef TOOLS_VIEW_OOM_ASKER_TEXT_H_
#define TOOLS_VIEW_OOM_ASKER_TEXT_H_

#include <string>

#include "tools/analyze/oom/out_of_memory.h"

namespace memoir {

// "aten::mm in layers.3.mlp.fc1 (Linear), backward, step 7"
std::string Place(const OutOfMemory& error);
// "net.py:12 Net.forward, in layers.3.mlp"; "backward of net.py:12 Net.forward, in layers.3.mlp, called by train.py:90
// main". Of an error whose line is known.
std::string AskedBy(const OutOfMemory& error);

}  // namespace memoir

#endif  // TOOLS_VIEW_OOM_ASKER_TEXT_H_
