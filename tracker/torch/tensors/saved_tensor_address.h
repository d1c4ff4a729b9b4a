// Finds the storage of a tensor that an autograd node has saved for backward. Call it on a thread that holds the GIL
// and keeps the node alive. No backward pass may run at the same time, because it frees saved tensors.
#ifndef TRACKER_TORCH_TENSORS_SAVED_TENSOR_ADDRESS_H_
#define TRACKER_TORCH_TENSORS_SAVED_TENSOR_ADDRESS_H_

#include <cstdint>

namespace memoir {

// Returns the address of the storage that a torch::autograd::SavedVariable keeps; 0 if it keeps no storage. Does not
// call the hooks of the SavedVariable.
std::uint64_t SavedTensorAddress(const void* saved);

}  // namespace memoir

#endif  // TRACKER_TORCH_TENSORS_SAVED_TENSOR_ADDRESS_H_
