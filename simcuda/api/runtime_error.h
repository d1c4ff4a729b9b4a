// The runtime's error state: each thread's last error.
#ifndef SIMCUDA_API_RUNTIME_ERROR_H_
#define SIMCUDA_API_RUNTIME_ERROR_H_

#include <cuda_runtime_api.h>

namespace memoir::simcuda {

// Returns `error`. Stores it as the thread's last error, which cudaGetLastError reports, unless it is cudaSuccess or
// cudaErrorNotReady.
cudaError_t Return(cudaError_t error);

// Returns success if `condition` is true, else `error`.
inline cudaError_t Expect(bool condition, cudaError_t error) { return Return(condition ? cudaSuccess : error); }

}  // namespace memoir::simcuda

#endif  // SIMCUDA_API_RUNTIME_ERROR_H_
