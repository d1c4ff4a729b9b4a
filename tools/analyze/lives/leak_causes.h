// Which of the lines that keep more in every step do so for one cause: a loss that is kept keeps all that autograd
// saved on the way to it, each tensor with a line of its own.
//
//     h = self.a(x)            model.py:11 keeps more   ┐
//     h = self.dropout(h)      model.py:12 keeps more   ├ one cause: tensors computed from each other,
//     loss = criterion(h, y)   train.py:30 keeps 512 B  ┘ which one graph of autograd keeps
//
// Told by the last step but one: which tensors its operators made of which.
#ifndef TOOLS_ANALYZE_LIVES_LEAK_CAUSES_H_
#define TOOLS_ANALYZE_LIVES_LEAK_CAUSES_H_

#include "absl/status/status.h"
#include "tools/analyze/lives/leaks.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"

namespace memoir {

// In another replay, where two of them may be of one cause. `leaks`: of LeakPass.
absl::Status AddCauses(const Capture& capture, const Selection& selection, Leaks& leaks);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVES_LEAK_CAUSES_H_
