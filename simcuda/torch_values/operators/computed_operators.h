// Computes values of small tensors on the simulated GPU. torch's kernels for CUDA are wrapped and run as usual, so
// memory and launches are the same as on a GPU. Then the results of the operators are computed on the host, into the
// same memory.
//
//   dispatcher ─► the wrapper ─► torch's kernel for CUDA: allocates, and launches kernels that do nothing
//                     └────────► torch's kernel for the CPU, on the same bytes, if the tensors are small and known
//
// Memoir wraps kernels, and registers no fallback in the dispatcher. So no thread needs a dispatch key, and modes and
// recordings, which are above the kernels, see the same operators
// (docs/decisions/0012-values-by-wrapped-kernels.md). The results of operators that are not computed are unknown.
#ifndef SIMCUDA_TORCH_VALUES_OPERATORS_COMPUTED_OPERATORS_H_
#define SIMCUDA_TORCH_VALUES_OPERATORS_COMPUTED_OPERATORS_H_

namespace memoir {

// Wraps the kernels of all operators that can be computed, until the process ends. Call it once, before other threads
// run operators. Throws torch's exceptions.
void ComputeSmallOperators();

}  // namespace memoir

#endif  // SIMCUDA_TORCH_VALUES_OPERATORS_COMPUTED_OPERATORS_H_
