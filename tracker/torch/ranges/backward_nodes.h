// Properties of an autograd node that its range does not contain: the forward operator to which the node belongs, the
// parameter whose gradient it accumulates, and this gradient after the node has run.
//
// Call these functions on the range's thread, when a range with the scope BACKWARD_FUNCTION begins or ends. The engine
// has then made the node the current node of the thread.
#ifndef TRACKER_TORCH_RANGES_BACKWARD_NODES_H_
#define TRACKER_TORCH_RANGES_BACKWARD_NODES_H_

#include <ATen/record_function.h>

#include <cstdint>

#include "interpose/ring/ring.h"

namespace memoir {

// Returns the autograd sequence number of the forward operator. This is usually the node's own number. CopySlices, the
// node of an in-place operator on a view, has a number that belongs to no operator. So for CopySlices the number of the
// node inside of it is returned.
std::int64_t ForwardSequence(const at::RecordFunction& range);

// Returns the TensorImpl of the parameter whose gradient the range's node accumulates; nullptr if the node accumulates
// no gradient.
const void* AccumulatedParameter(const at::RecordFunction& range);

// Returns true if the engine runs a node on the calling thread. Any thread, inside of a range or outside.
bool InBackwardNode();

// Records the parameter and its gradient. Call it at the end of the range of a node that accumulates a gradient. If a
// hook of the program has freed the gradient, records only the parameter. If another thread is accumulating the same
// gradient, records nothing, because that thread records it.
void RecordAccumulatedGradient(ThreadSlot* slot);

}  // namespace memoir

#endif  // TRACKER_TORCH_RANGES_BACKWARD_NODES_H_
