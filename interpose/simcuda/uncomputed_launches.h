// Kernels that nobody computes: what they write is unknown from then on.
//
// A kernel that is launched within an operator of torch is that operator's, and whoever computes the values of small
// tensors (tracker/torch/simulated/) says what becomes of its results. Any other (triton's, an extension's) may write
// to whatever it is handed: the blocks whose addresses stand in its parameters, and the whole memory where the
// parameters cannot be told. What it only reads becomes unknown with it. An address that it finds in memory is not
// seen.
//
// Captured work writes at every replay: the graph keeps a list (capture.h).
//
// Any thread. Does nothing until an operator was begun: without values nothing is computed, and none is voided.
#ifndef INTERPOSE_SIMCUDA_UNCOMPUTED_LAUNCHES_H_
#define INTERPOSE_SIMCUDA_UNCOMPUTED_LAUNCHES_H_

#include <cstddef>
#include <cstdint>

#include "interpose/simcuda/kernels.h"
#include "interpose/simcuda/streams.h"

namespace memoir::simcuda {

// The calling thread is in an operator whose values are looked after. They nest: what the beginning returns is for the
// end. True: work was queued in this operator, and in none within it.
std::uint64_t BeginOperator();
bool EndOperator(std::uint64_t begun);

// Launches, and calls into libraries, by the calling thread in its innermost operator.
inline constinit thread_local std::uint64_t work_in_operator = 0;

// `parameters`: an address for each parameter, as CUDA's launches have it.
void VoidWrittenBy(const Kernel& kernel, void* const* parameters, Stream& stream);
// All parameters in one piece.
void VoidWrittenBy(const void* buffer, std::size_t bytes, Stream& stream);

// The bytes are unknown from now on; of captured work: after each replay, too.
void VoidWritten(std::uint64_t address, std::uint64_t bytes);

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_UNCOMPUTED_LAUNCHES_H_
