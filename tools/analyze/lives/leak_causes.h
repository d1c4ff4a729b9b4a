// Groups leaks, the lines that keep more memory in every step, by their cause. For example, a loss that the program
// keeps holds all tensors that autograd saved to compute gradients of the loss. Each of these tensors was made at a
// different line.
//
//     h = self.a(x)            model.py:11 grows        ┐
//     h = self.dropout(h)      model.py:12 grows        ├ one cause: tensors computed from each other,
//     loss = criterion(h, y)   train.py:30 grows 512 B  ┘ which one autograd graph holds
//
// The operators of the step before the newest complete step show which tensors were computed from each other.
//
// With --holders, all tensors that one variable holds, such as the items of seen.append((x, y)), also have one cause.
#ifndef TOOLS_ANALYZE_LIVES_LEAK_CAUSES_H_
#define TOOLS_ANALYZE_LIVES_LEAK_CAUSES_H_

#include "absl/status/status.h"
#include "tools/analyze/lives/leak_holders.h"
#include "tools/analyze/lives/leaks.h"
#include "tools/analyze/pass/joint_replays.h"
#include "tools/analyze/pass/task.h"
#include "tools/analyze/pass/window/selection.h"

namespace memoir {

// Sets `leaks.causes`. `leaks`: the result of LeakPass. Needs one replay if at least two leaks may have one cause. The
// arguments must outlive the task.
Task<absl::Status> AddLeakCauses(JointReplays& replays, const Selection& selection, Leaks& leaks);

// Adds a cause for each variable that holds the most bytes of several leaks with the same process, device, first step
// and number of steps. If the leaks belong to one cause that is a graph, adds nothing. If all leaks of a cause that is
// a graph belong to one variable, the variable replaces this cause. Call AddLeakCauses first.
void AddCausesByHolder(const LeakHolders& holders, Leaks& leaks);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVES_LEAK_CAUSES_H_
