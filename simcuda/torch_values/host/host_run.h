// Runs operators on the host for the simulated GPU. Recordings and torch.profiler do not contain these operators and
// their allocations, and their warnings are dropped. The thread's modes, autograd and autocast do not apply to them.
//
// Any thread.
#ifndef SIMCUDA_TORCH_VALUES_HOST_HOST_RUN_H_
#define SIMCUDA_TORCH_VALUES_HOST_HOST_RUN_H_

#include <ATen/core/Generator.h>
#include <ATen/core/dispatch/Dispatcher.h>

#include <optional>
#include <vector>

#include "simcuda/torch_values/host/operator_plan.h"

namespace memoir {

using HostResults = std::vector<c10::IValue>;

// Runs the operator on the host. `arguments` are the operator's arguments on the GPU. The host writes directly into the
// arguments that the operator writes; the caller has marked these with MarkKnown. `generator`: a CPU generator, for
// operators that draw. nullopt if the operator fails on the host, for example because torch has no CPU kernel for this
// type, or because an index is out of bounds.
std::optional<HostResults> RunOnHost(const c10::OperatorHandle& op, const OperatorPlan& plan, IValues arguments,
                                     const at::Generator& generator);

// Frees the results of RunOnHost.
void Release(std::optional<HostResults>& results);

// Writes a result of the host into the tensor, or tensors, that the operator has made on the GPU. A tensor whose shape
// or type differs stays unchanged.
void WriteResult(const c10::IValue& host, const c10::IValue& device, IValues arguments);

}  // namespace memoir

#endif  // SIMCUDA_TORCH_VALUES_HOST_HOST_RUN_H_
