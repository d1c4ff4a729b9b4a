// Reads the address of a tensor's storage.
#ifndef TRACKER_TORCH_TENSORS_STORAGE_ADDRESS_H_
#define TRACKER_TORCH_TENSORS_STORAGE_ADDRESS_H_

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace memoir {

// Returns the address of the first byte of the tensor's storage, which may precede the tensor's first element; 0 if the
// tensor has no storage. A copy-on-write tensor is not copied.
inline std::uint64_t StorageAddress(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.unsafeGetTensorImpl()->has_storage()) return 0;
  return reinterpret_cast<std::uint64_t>(
      tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl()->data_ptr().get());
}

}  // namespace memoir

#endif  // TRACKER_TORCH_TENSORS_STORAGE_ADDRESS_H_
