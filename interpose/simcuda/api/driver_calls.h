// What the driver's functions do with the runtime's: most of them are the runtime's under another name.
#ifndef INTERPOSE_SIMCUDA_API_DRIVER_CALLS_H_
#define INTERPOSE_SIMCUDA_API_DRIVER_CALLS_H_

#include <cuda.h>
#include <cuda_runtime_api.h>

namespace memoir::simcuda {

// The runtime's codes are the driver's.
inline CUresult Driver(cudaError_t error) { return static_cast<CUresult>(error); }

// Where the driver has an address, the runtime has a pointer.
inline void* Pointer(CUdeviceptr address) { return reinterpret_cast<void*>(address); }

// `call` sets a pointer, `address` becomes it.
template <typename Call>
CUresult Into(CUdeviceptr* address, Call call) {
  void* pointer = nullptr;
  const cudaError_t error = call(&pointer);
  *address = reinterpret_cast<CUdeviceptr>(pointer);
  return Driver(error);
}

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_API_DRIVER_CALLS_H_
