// What nodes of autograd have saved for backward. Any thread that holds the GIL, and with it the node, while no
// backward runs: its threads free what nodes have saved.
#ifndef TRACKER_TORCH_SAVED_TENSORS_H_
#define TRACKER_TORCH_SAVED_TENSORS_H_

#include <cstdint>

namespace memoir {

// The address of the bytes that a torch::autograd::SavedVariable keeps; 0: none. Calls none of its hooks.
std::uint64_t SavedAddress(const void* saved);

}  // namespace memoir

#endif  // TRACKER_TORCH_SAVED_TENSORS_H_
