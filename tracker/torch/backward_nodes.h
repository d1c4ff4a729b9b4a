// What of an autograd node its range does not say: which forward operator it belongs to, and which parameter.
//
// Inside a BACKWARD_FUNCTION range's begin, on its thread: there the engine has made the node the current one.
#ifndef TRACKER_TORCH_BACKWARD_NODES_H_
#define TRACKER_TORCH_BACKWARD_NODES_H_

#include <ATen/record_function.h>

#include <cstdint>

namespace memoir {

// The autograd sequence number by which the forward operator is found: the node's own. But a CopySlices, which an
// operator in place on a view leaves behind, takes a number that no operator of its own carries; the node inside it has
// the right one.
std::int64_t ForwardSequence(const at::RecordFunction& range);

// The TensorImpl whose gradient this node accumulates; nullptr when it is another node.
const void* AccumulatedParameter(const at::RecordFunction& range);

}  // namespace memoir

#endif  // TRACKER_TORCH_BACKWARD_NODES_H_
