// Accesses tensors of the simulated GPU from the host. The memory of the simulated device is memory of this process, so
// a CPU tensor can refer to the same bytes. Any thread. Arguments must be strided tensors on the simulated GPU, unless
// a comment states otherwise.
#ifndef SIMCUDA_TORCH_VALUES_MEMORY_HOST_ALIAS_H_
#define SIMCUDA_TORCH_VALUES_MEMORY_HOST_ALIAS_H_

#include <ATen/core/Tensor.h>

#include <cstddef>
#include <vector>

namespace memoir {

// The host computes an operator only if each of its tensors has at most this many bytes.
inline constexpr std::size_t kLargestComputed = 64 << 10;

// Returns true if the tensor is strided and not quantized, has memory on the GPU or the CPU, and has at most
// kLargestComputed bytes, in a span of at most 16 MiB. Accepts any tensor.
bool IsSmall(const at::Tensor& tensor);

// Returns true if all bytes of the tensor's elements are known. Bytes between the elements of a strided tensor do not
// matter.
bool IsKnown(const at::Tensor& tensor);
// Marks the tensor's bytes as known. False if no more pages may be written (contents.h); the caller then must not
// write.
bool MarkKnown(const at::Tensor& tensor);
// Marks the tensor's bytes as unknown. Also accepts large tensors.
void MarkUnknown(const at::Tensor& tensor);

// Copy the bytes of a small tensor's elements, and write them back. PutBytes does nothing if MarkKnown fails.
std::vector<char> CopyOfBytes(const at::Tensor& tensor);
void PutBytes(const at::Tensor& tensor, const std::vector<char>& bytes);

// Returns a CPU tensor with the same elements, without autograd. It is valid as long as the memory of `tensor` is.
// Nothing is allocated for the elements.
at::Tensor HostAlias(const at::Tensor& tensor);

}  // namespace memoir

#endif  // SIMCUDA_TORCH_VALUES_MEMORY_HOST_ALIAS_H_
