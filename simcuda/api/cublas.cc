// cuBLAS and cuBLASLt: handles store their settings; every multiplication succeeds and writes nothing.
//
// torch itself allocates cuBLAS's workspace, so the recorded size of this workspace is exact. cuBLASLt's algorithms
// need no workspace here, but torch allocates the workspace that it offers to them in any case.
#include <cublasLt.h>
#include <cublas_v2.h>

#include "simcuda/api/attributes.h"
#include "simcuda/api/exported.h"
#include "simcuda/process/handles.h"

using memoir::simcuda::In;

namespace {

struct BlasState {
  cudaStream_t stream;  // the first member, as library_work.h requires
  cublasPointerMode_t pointer_mode;
  cublasMath_t math_mode;
  cublasAtomicsMode_t atomics_mode;
};

constexpr int kBlasVersion = CUBLAS_VERSION;

}  // namespace

SIMULATED cublasStatus_t cublasGetVersion_v2(cublasHandle_t, int* version) {
  *version = kBlasVersion;
  return CUBLAS_STATUS_SUCCESS;
}

SIMULATED cublasStatus_t cublasGetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t* mode) {
  *mode = In<BlasState>(handle).pointer_mode;
  return CUBLAS_STATUS_SUCCESS;
}

SIMULATED cublasStatus_t cublasSetPointerMode_v2(cublasHandle_t handle, cublasPointerMode_t mode) {
  In<BlasState>(handle).pointer_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

SIMULATED cublasStatus_t cublasGetMathMode(cublasHandle_t handle, cublasMath_t* mode) {
  *mode = In<BlasState>(handle).math_mode;
  return CUBLAS_STATUS_SUCCESS;
}

SIMULATED cublasStatus_t cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode) {
  In<BlasState>(handle).math_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

SIMULATED cublasStatus_t cublasGetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t* mode) {
  *mode = In<BlasState>(handle).atomics_mode;
  return CUBLAS_STATUS_SUCCESS;
}

SIMULATED cublasStatus_t cublasSetAtomicsMode(cublasHandle_t handle, cublasAtomicsMode_t mode) {
  In<BlasState>(handle).atomics_mode = mode;
  return CUBLAS_STATUS_SUCCESS;
}

SIMULATED cublasStatus_t cublasGetStream_v2(cublasHandle_t handle, cudaStream_t* stream) {
  *stream = In<BlasState>(handle).stream;
  return CUBLAS_STATUS_SUCCESS;
}

SIMULATED cublasStatus_t cublasSetStream_v2(cublasHandle_t handle, cudaStream_t stream) {
  In<BlasState>(handle).stream = stream;
  return CUBLAS_STATUS_SUCCESS;
}

SIMULATED std::size_t cublasLtGetVersion() { return kBlasVersion; }
SIMULATED std::size_t cublasLtGetCudartVersion() { return memoir::simcuda::kCudaVersion; }

SIMULATED cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t, cublasLtMatmulDesc_t, cublasLtMatrixLayout_t,
                                                        cublasLtMatrixLayout_t, cublasLtMatrixLayout_t,
                                                        cublasLtMatrixLayout_t, cublasLtMatmulPreference_t, int wanted,
                                                        cublasLtMatmulHeuristicResult_t results[], int* found) {
  for (int i = 0; i < wanted; ++i) {
    results[i] = cublasLtMatmulHeuristicResult_t();
    results[i].state = CUBLAS_STATUS_SUCCESS;
    results[i].wavesCount = 1;
  }
  *found = wanted;
  return CUBLAS_STATUS_SUCCESS;
}
