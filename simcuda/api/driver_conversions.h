// Conversions between the driver's functions and the runtime's, most of which differ only in name.
#ifndef SIMCUDA_API_DRIVER_CONVERSIONS_H_
#define SIMCUDA_API_DRIVER_CONVERSIONS_H_

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace memoir::simcuda {

// Converts an error code. The numbers are equal.
inline CUresult Driver(cudaError_t error) { return static_cast<CUresult>(error); }

// Converts an address: the driver passes a number where the runtime passes a pointer.
inline void* Pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

// Makes `call`, which sets a pointer, and stores the pointer in `address`.
template <typename Call>
CUresult Into(CUdeviceptr* address, Call call) {
  void* pointer = nullptr;
  const cudaError_t error = call(&pointer);
  *address = reinterpret_cast<CUdeviceptr>(pointer);
  return Driver(error);
}

}  // namespace memoir::simcuda

#endif  // SIMCUDA_API_DRIVER_CONVERSIONS_H_
