// Compiled, never run: torch's CUDA headers go with the CUDA headers of the wheels that cmake/FindCudaWheel.cmake
// found.
#include <c10/cuda/CUDACachingAllocator.h>
#include <cuda_runtime_api.h>

static_assert(CUDART_VERSION / 1000 == 13, "torch 2.11 is built for CUDA 13; setup/requirements.txt names the headers");
