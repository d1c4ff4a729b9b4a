// Opaque handles of objects without behaviour: descriptors of cuBLAS, cuDNN and similar libraries. A handle points to
// 256 bytes, first all zero, in which the simulated library may store the object's state.
#ifndef SIMCUDA_PROCESS_HANDLES_H_
#define SIMCUDA_PROCESS_HANDLES_H_

#include <cstdlib>
#include <type_traits>

namespace memoir::simcuda {

constexpr std::size_t kHandleBytes = 256;

inline void* NewHandle() { return std::calloc(1, kHandleBytes); }

// Sets an output parameter of a generated stub, by the parameter's type alone: a pointer is a handle, and is set to a
// new handle; any other type is set to zero.
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

// Returns the `T` that is stored from the handle's first byte on.
template <typename T, typename H>
T& In(H handle) {
  static_assert(sizeof(T) <= kHandleBytes && std::is_trivially_copyable_v<T>);
  return *reinterpret_cast<T*>(handle);
}

}  // namespace memoir::simcuda

#endif  // SIMCUDA_PROCESS_HANDLES_H_
