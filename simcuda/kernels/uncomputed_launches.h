// Handles launches of kernels whose results are not computed: the bytes that they may write become unknown.
//
// A kernel that is launched within an operator of torch belongs to this operator, and the code that computes values
// (simcuda/torch_values/) decides which of its results are known. Any other kernel (of triton or an extension) may
// write to everything that it receives: the blocks whose addresses are among its parameters, or all memory if the
// parameters are unknown. Bytes that such a kernel only reads also become unknown. Addresses that the kernel loads from
// memory are not detected.
//
// Captured work writes at every replay, so its graph stores the ranges that it writes (graph_capture.h).
//
// Any thread. Until the first BeginOperator, launches make no bytes unknown, because no values are computed yet.
#ifndef SIMCUDA_KERNELS_UNCOMPUTED_LAUNCHES_H_
#define SIMCUDA_KERNELS_UNCOMPUTED_LAUNCHES_H_

#include <cstddef>
#include <cstdint>

#include "simcuda/kernels/kernels.h"
#include "simcuda/streams/streams.h"

namespace memoir::simcuda {

// Begin and end an operator whose written bytes the caller reports. Operators nest: pass the result of BeginOperator to
// EndOperator. EndOperator returns true if work was queued in this operator itself, not only in an operator that it
// called.
std::uint64_t BeginOperator();
bool EndOperator(std::uint64_t begun);

// The number of launches and library calls of the calling thread in its innermost operator.
inline constinit thread_local std::uint64_t work_in_operator = 0;

// Makes the bytes that the kernel may write unknown. `parameters`: an address for each parameter, as in CUDA's launch
// calls.
void MarkWrittenByUnknown(const Kernel& kernel, void* const* parameters, Stream& stream);
// The same for parameters in one buffer.
void MarkWrittenByUnknown(const void* buffer, std::size_t bytes, Stream& stream);

// Makes the bytes unknown. If streams are being captured, each replay of these captures makes them unknown again.
void MarkWrittenAsUnknown(std::uint64_t address, std::uint64_t bytes);

}  // namespace memoir::simcuda

#endif  // SIMCUDA_KERNELS_UNCOMPUTED_LAUNCHES_H_
