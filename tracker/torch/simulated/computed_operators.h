// Small tensors on the simulated GPU have values: torch's kernels for CUDA are wrapped, run as ever, so that memory and
// launches are those of a GPU, and then their results are computed on the host, into the same memory.
//
//   dispatcher ─► the wrapper ─► torch's kernel for CUDA: allocates, launches what does nothing
//                     └────────► its kernel for the CPU, on the same bytes: small tensors whose values are known
//
// Wrapped are kernels, not dispatched operators: nothing needs to be included on any thread, modes and recording above
// see the same operators as ever (docs/decisions has why). Results of operators that are not computed are unknown.
#ifndef TRACKER_TORCH_SIMULATED_COMPUTED_OPERATORS_H_
#define TRACKER_TORCH_SIMULATED_COMPUTED_OPERATORS_H_

namespace memoir {

// Wraps them all, for the life of the process; once, before other threads run operators. Throws what torch throws.
void ComputeSmallOperators();

}  // namespace memoir

#endif  // TRACKER_TORCH_SIMULATED_COMPUTED_OPERATORS_H_
