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

#include <cstddef>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/lives/leak.h"
#include "tools/analyze/pass/options.h"
#include "tools/model/capture.h"

namespace memoir {

struct LeakCause {
  std::vector<std::size_t> leaks;  // their indices, two at least
  struct Made {                    // one of the two is known
    SourceLine line;
    std::string operator_name;
  };
  Made last_kept;    // of these tensors, the last that a step makes
  Made last_result;  // the last that it computes from them, kept or not: what the program refers to, or near it
};

// `leaks`: of LeakPass. In another replay, where two of them may be of one cause.
absl::StatusOr<std::vector<LeakCause>> FindLeakCauses(const Capture& capture, const Selection& selection,
                                                      const std::vector<Leak>& leaks);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVES_LEAK_CAUSES_H_
