// Tensors on the simulated GPU, looked at from the host: device memory is memory of this process, so a tensor of the
// CPU can stand for the same bytes. Any thread; tensors are strided and on the simulated GPU unless said otherwise.
#ifndef TRACKER_TORCH_SIMULATED_HOST_ALIAS_H_
#define TRACKER_TORCH_SIMULATED_HOST_ALIAS_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <vector>

namespace memoir {

// What is computed: operators whose tensors all hold at most so many bytes.
inline constexpr std::size_t kLargestComputed = 64 << 10;

// Any tensor: plain (strided, with memory), on the GPU or the CPU, and at most kLargestComputed.
bool IsSmall(const at::Tensor& tensor);

// Of the tensor's own elements; bytes between those of a strided one do not matter.
bool IsKnown(const at::Tensor& tensor);
// False: there is no room for its bytes. It may not be written then.
bool Know(const at::Tensor& tensor);
// Large ones too.
void Forget(const at::Tensor& tensor);

// The elements' bytes, and those bytes put back. Of small tensors that have room (Know).
std::vector<char> CopyOfBytes(const at::Tensor& tensor);
void PutBytes(const at::Tensor& tensor, const std::vector<char>& bytes);

// The same elements as a tensor of the CPU, without autograd; valid as long as the memory is. Nothing is allocated for
// its elements.
at::Tensor HostAlias(const at::Tensor& tensor);

}  // namespace memoir

#endif  // TRACKER_TORCH_SIMULATED_HOST_ALIAS_H_
