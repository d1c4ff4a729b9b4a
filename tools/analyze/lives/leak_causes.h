// Groups leaks, the lines that keep more memory in every step, by their cause. For example, if the program keeps a
// loss, the loss holds all tensors that autograd saved to compute its gradients, and each of these tensors was made at
// a different line.
//
//     h = self.a(x)            model.py:11 grows        ┐
//     h = self.dropout(h)      model.py:12 grows        ├ one cause: tensors computed from each other,
//     loss = criterion(h, y)   train.py:30 grows 512 B  ┘ which one autograd graph holds
//
// The operators of the step before the newest complete step show which tensors were computed from each other.
//
// With --holders, tensors that one variable holds have one cause, too, such as the items of seen.append((x, y)).
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

// Adds a cause for each variable that is the first holder of several leaks of one process, device and time, unless one
// graph keeps them all. If all leaks of a graph have this first holder, the new cause replaces the graph. `leaks`: with
// the causes that AddLeakCauses found.
void AddCausesByHolder(const LeakHolders& holders, Leaks& leaks);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVES_LEAK_CAUSES_H_
