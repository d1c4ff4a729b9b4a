// Groups leaks, the lines that keep more memory in every step, by their cause. For example, if the program keeps a
// loss, the loss holds all tensors that autograd saved to compute its gradients. Each of these tensors was made at a
// different line.
//
//     h = self.a(x)            model.py:11 grows        ┐
//     h = self.dropout(h)      model.py:12 grows        ├ one cause: tensors computed from each other,
//     loss = criterion(h, y)   train.py:30 grows 512 B  ┘ which one autograd graph holds
//
// The operators of the step before the newest complete step show which tensors were computed from each other.
//
// With --holders, all tensors that one variable holds also have one cause. An example is a list `seen`, to which the
// program appends (x, y) in every step.
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

// Adds causes that are variables. Leaks belong to a variable if it holds more of their bytes than any other holder, and
// if the leaks have the same kind, process, device, first step and number of steps. Call AddLeakCauses first.
// - A variable becomes a cause if at least two leaks belong to it.
// - If one graph is already the cause of all these leaks, the variable is not added.
// - If all leaks of a graph belong to the variable, the variable replaces the graph.
// - A leak whose cause stays a graph is not one of the two leaks that a variable needs.
void AddCausesByHolder(const LeakHolders& holders, Leaks& leaks);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVES_LEAK_CAUSES_H_
