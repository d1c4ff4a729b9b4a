// The runtime's error state: each thread's last error.
#ifndef INTERPOSE_SIMCUDA_API_RUNTIME_ERROR_H_
#define INTERPOSE_SIMCUDA_API_RUNTIME_ERROR_H_

#include <cuda_runtime_api.h>

namespace memoir::simcuda {

// Remembers an error, as cudaGetLastError reports it, and returns it.
cudaError_t Return(cudaError_t error);

// Success, or what `condition` being false means.
inline cudaError_t Expect(bool condition, cudaError_t error) { return Return(condition ? cudaSuccess : error); }

}  // namespace memoir::simcuda

#endif  // INTERPOSE_SIMCUDA_API_RUNTIME_ERROR_H_
