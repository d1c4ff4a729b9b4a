// Where a tensor's bytes are.
#ifndef TRACKER_TORCH_STORAGE_ADDRESS_H_
#define TRACKER_TORCH_STORAGE_ADDRESS_H_

#include <cstdint>

#include <ATen/core/Tensor.h>

namespace memoir {

// Of its whole storage, not of its first element; 0: it has none. Copy-on-write tensors stay as they are.
inline std::uint64_t StorageAddress(const at::Tensor& tensor) {
  if (!tensor.defined() || !tensor.unsafeGetTensorImpl()->has_storage()) return 0;
  return reinterpret_cast<std::uint64_t>(
      tensor.unsafeGetTensorImpl()->unsafe_storage().unsafeGetStorageImpl()->data_ptr().get());
}

}  // namespace memoir

#endif  // TRACKER_TORCH_STORAGE_ADDRESS_H_
