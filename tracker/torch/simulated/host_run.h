// Runs operators on the host for the simulated GPU, unseen: no operator, warning or allocation of it shows in a
// recording or to torch.profiler, and what the thread has of modes, autograd and autocast does not apply.
//
// Any thread.
#ifndef TRACKER_TORCH_SIMULATED_HOST_RUN_H_
#define TRACKER_TORCH_SIMULATED_HOST_RUN_H_

#include <ATen/core/Generator.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <vector>

#include "tracker/torch/simulated/operator_plan.h"

namespace memoir {

using HostResults = std::vector<c10::IValue>;

// `arguments` as they were given on the GPU; what is written is written to their own memory (Know was called for it).
// `generator`: of the CPU, where the operator draws. Nothing when the host cannot: it has no such kernel for this type,
// or finds an index out of bounds.
std::optional<HostResults> RunOnHost(const c10::OperatorHandle& op, const OperatorPlan& plan, IValues arguments,
                                     const at::Generator& generator);

// Gives back what RunOnHost returned.
void Release(std::optional<HostResults>& results);

// Writes a result of the host's into the tensor, or tensors, that the operator made on the GPU; where it does not fit
// them, they stay as they are.
void WriteResult(const c10::IValue& host, const c10::IValue& device, IValues arguments);

}  // namespace memoir

#endif  // TRACKER_TORCH_SIMULATED_HOST_RUN_H_
