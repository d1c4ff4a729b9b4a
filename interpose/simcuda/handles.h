// Opaque handles for what has no behaviour: descriptors of cuBLAS, cuDNN and the like. 256 zero bytes each, which a
// stand-in that wants to remember something may use.
#ifndef INTERPOSE_SIMCUDA_HANDLES_H_
#define INTERPOSE_SIMCUDA_HANDLES_H_

#include <cstdlib>
#include <type_traits>

namespace memoir::simcuda {

constexpr std::size_t kHandleBytes = 256;

inline void* NewHandle() { return std::calloc(1, kHandleBytes); }

// For generated stubs, which see only a parameter's type: a handle is a pointer; anything else is a plain number.
template <typename T>
void OutHandle(T* handle) {
  if (handle == nullptr) return;
  if constexpr (std::is_pointer_v<T>) {
    *handle = reinterpret_cast<T>(NewHandle());
  } else {
    *handle = T();
  }
}

template <typename T>
void FreeHandle(T handle) {
  if constexpr (std::is_pointer_v<T>) std::free(const_cast<void*>(reinterpret_cast<const void*>(handle)));
}

// A handle that holds a `T` from its first byte on.
template <typename T, typename H>
T& In(H handle) {
  static_assert(sizeof(T) <= kHandleBytes && std::is_trivially_copyable_v<T>);
  return *reinterpret_cast<T*>(handle);
}

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_HANDLES_H_
