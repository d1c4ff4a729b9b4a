// Reads properties of the autograd node that is running. torch's RecordFunction does not contain them: the forward
// operator to which the node belongs, the parameter whose gradient the node accumulates, and this gradient after the
// node has run.
//
// Call these functions on the range's thread, when a range with the scope BACKWARD_FUNCTION begins or ends. At that
// time autograd's engine returns the range's node as the current node of the thread.
#ifndef TRACKER_TORCH_RANGES_BACKWARD_NODES_H_
#define TRACKER_TORCH_RANGES_BACKWARD_NODES_H_

#include <ATen/record_function.h>

#include <cstdint>

#include "interpose/ring/ring.h"

namespace memoir {

// Returns the autograd sequence number of the forward operator. This is usually the node's own number. The exception is
// CopySlices, which autograd makes for an in-place operator on a view: it contains the operator's node, and its own
// number belongs to no operator. For CopySlices, the number of the contained node is returned.
std::int64_t ForwardSequence(const at::RecordFunction& range);

// Returns the TensorImpl of the parameter whose gradient the range's node accumulates; nullptr if the node accumulates
// no gradient.
const void* AccumulatedParameter(const at::RecordFunction& range);

// Returns true if autograd's engine runs a node on the calling thread. Can be called on any thread, also outside of
// ranges.
bool InBackwardNode();

// Records the parameter and its gradient. Call it when the range of a node that accumulates a gradient ends. `slot`:
// the slot of the calling thread. If a hook of the program has freed the gradient, records only the parameter. If
// another thread is accumulating the same gradient, records nothing, because that thread records it.
void RecordAccumulatedGradient(ThreadSlot* slot);

}  // namespace memoir

#endif  // TRACKER_TORCH_RANGES_BACKWARD_NODES_H_
