// What of an autograd node its range does not say: which forward operator it belongs to, which parameter, and what
// gradient that has afterwards.
//
// Inside a BACKWARD_FUNCTION range's begin or end, on its thread: there the engine has made the node the current one.
#ifndef TRACKER_TORCH_BACKWARD_NODES_H_
#define TRACKER_TORCH_BACKWARD_NODES_H_

#include <ATen/record_function.h>

#include <cstdint>

#include "interpose/ring.h"

namespace memoir {

// The autograd sequence number by which the forward operator is found: the node's own. But a CopySlices, which an
// operator in place on a view leaves behind, takes a number that no operator of its own carries; the node inside it has
// the right one.
std::int64_t ForwardSequence(const at::RecordFunction& range);

// The TensorImpl whose gradient this node accumulates; nullptr when it is another node.
const void* AccumulatedParameter(const at::RecordFunction& range);

// Of any thread, in a range or not: whether the engine runs a node there.
bool InBackwardNode();

// At the end of such a node's range: records its parameter and the gradient that this has now; none where a hook has
// freed it. Nothing where another thread is just accumulating the same one, and will say so itself.
void RecordAccumulatedGradient(ThreadSlot* slot);

}  // namespace memoir

#endif  // TRACKER_TORCH_BACKWARD_NODES_H_
