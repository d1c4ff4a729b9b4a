// cuSOLVER: the size of a factorisation's workspace, by the formulas of workspaces.txt. torch allocates the workspace
// itself.
#include <cusolverDn.h>

#include <algorithm>
#include <climits>

#include "simcuda/api/exported.h"
#include "simcuda/machine/machine.h"

using memoir::simcuda::TheMachine;
using memoir::simcuda::Word;

namespace {

std::uint64_t Size(long long number) { return static_cast<std::uint64_t>(std::max(number, 0ll)); }

std::uint64_t Bytes(const char* formula, std::uint64_t element, long long m, long long n, long long batch = 1) {
  return TheMachine().workspaces().Bytes(
      formula, {{Word::kM, Size(m)}, {Word::kN, Size(n)}, {Word::kBatch, Size(batch)}, {Word::kElement, element}});
}

// Converts `bytes` to elements of `element` bytes, as the 32-bit functions report sizes. Returns cuSOLVER's error if
// the number of elements does not fit.
cusolverStatus_t Answer(int* elements, std::uint64_t bytes, std::uint64_t element) {
  const std::uint64_t wanted = (bytes + element - 1) / element;
  if (wanted > INT_MAX) return CUSOLVER_STATUS_INVALID_VALUE;
  *elements = static_cast<int>(wanted);
  return CUSOLVER_STATUS_SUCCESS;
}

std::uint64_t ElementBytes(cudaDataType type) {
  switch (type) {
    case CUDA_R_32F:
      return 4;
    case CUDA_C_64F:
      return 16;
    default:
      return 8;
  }
}

cusolverStatus_t Answer64(std::size_t* on_device, std::size_t* on_host, std::uint64_t bytes) {
  *on_device = bytes;
  *on_host = 0;
  return CUSOLVER_STATUS_SUCCESS;
}

}  // namespace

// Defines the functions of one element type `T` with the letter `L`. `or_un`: "or" (orthogonal) for real types, "un"
// (unitary) for complex types.
#define MEMOIR_CUSOLVER(L, T, or_un)                                                                                   \
  SIMULATED cusolverStatus_t cusolverDn##L##geqrf_bufferSize(cusolverDnHandle_t, int m, int n, T*, int, int* lwork) {  \
    return Answer(lwork, Bytes("cusolver.geqrf", sizeof(T), m, n), sizeof(T));                                         \
  }                                                                                                                    \
  SIMULATED cusolverStatus_t cusolverDn##L##or_un##gqr_bufferSize(cusolverDnHandle_t, int m, int n, int, const T*,     \
                                                                  int, const T*, int* lwork) {                         \
    return Answer(lwork, Bytes("cusolver.orgqr", sizeof(T), m, n), sizeof(T));                                         \
  }                                                                                                                    \
  SIMULATED cusolverStatus_t cusolverDn##L##or_un##mqr_bufferSize(cusolverDnHandle_t, cublasSideMode_t side,           \
                                                                  cublasOperation_t, int m, int n, int, const T*, int, \
                                                                  const T*, const T*, int, int* lwork) {               \
    return Answer(lwork, Bytes("cusolver.ormqr", sizeof(T), m, side == CUBLAS_SIDE_LEFT ? n : m), sizeof(T));          \
  }                                                                                                                    \
  SIMULATED cusolverStatus_t cusolverDn##L##sytrf_bufferSize(cusolverDnHandle_t, int n, T*, int, int* lwork) {         \
    return Answer(lwork, Bytes("cusolver.sytrf", sizeof(T), n, n), sizeof(T));                                         \
  }                                                                                                                    \
  SIMULATED cusolverStatus_t cusolverDn##L##gesvd_bufferSize(cusolverDnHandle_t, int m, int n, int* lwork) {           \
    return Answer(lwork, Bytes("cusolver.gesvd", sizeof(T), m, n), sizeof(T));                                         \
  }

// Defines the functions that also need the real type `R`. `sy_he`: "sy" (symmetric) for real types, "he" (Hermitian)
// for complex types.
#define MEMOIR_CUSOLVER_SPECTRAL(L, T, R, sy_he)                                                                       \
  SIMULATED cusolverStatus_t cusolverDn##L##sy_he##evd_bufferSize(                                                     \
      cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t, int n, const T*, int, const R*, int* lwork) {           \
    return Answer(lwork, Bytes("cusolver.syevd", sizeof(T), n, n), sizeof(T));                                         \
  }                                                                                                                    \
  SIMULATED cusolverStatus_t cusolverDn##L##sy_he##evjBatched_bufferSize(                                              \
      cusolverDnHandle_t, cusolverEigMode_t, cublasFillMode_t, int n, const T*, int, const R*, int* lwork,             \
      syevjInfo_t, int batch) {                                                                                        \
    return Answer(lwork, Bytes("cusolver.syevj_batched", sizeof(T), n, n, batch), sizeof(T));                          \
  }                                                                                                                    \
  SIMULATED cusolverStatus_t cusolverDn##L##gesvdj_bufferSize(cusolverDnHandle_t, cusolverEigMode_t, int, int m,       \
                                                              int n, const T*, int, const R*, const T*, int, const T*, \
                                                              int, int* lwork, gesvdjInfo_t) {                         \
    return Answer(lwork, Bytes("cusolver.gesvdj", sizeof(T), m, n), sizeof(T));                                        \
  }

MEMOIR_CUSOLVER(S, float, or)
MEMOIR_CUSOLVER(D, double, or)
MEMOIR_CUSOLVER(C, cuComplex, un)
MEMOIR_CUSOLVER(Z, cuDoubleComplex, un)
MEMOIR_CUSOLVER_SPECTRAL(S, float, float, sy)
MEMOIR_CUSOLVER_SPECTRAL(D, double, double, sy)
MEMOIR_CUSOLVER_SPECTRAL(C, cuComplex, float, he)
MEMOIR_CUSOLVER_SPECTRAL(Z, cuDoubleComplex, double, he)

SIMULATED cusolverStatus_t cusolverDnXgeqrf_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, int64_t m, int64_t n,
                                                       cudaDataType type, const void*, int64_t, cudaDataType,
                                                       const void*, cudaDataType, std::size_t* on_device,
                                                       std::size_t* on_host) {
  return Answer64(on_device, on_host, Bytes("cusolver.geqrf", ElementBytes(type), m, n));
}

SIMULATED cusolverStatus_t cusolverDnXsyevd_bufferSize(cusolverDnHandle_t, cusolverDnParams_t, cusolverEigMode_t,
                                                       cublasFillMode_t, int64_t n, cudaDataType type, const void*,
                                                       int64_t, cudaDataType, const void*, cudaDataType,
                                                       std::size_t* on_device, std::size_t* on_host) {
  return Answer64(on_device, on_host, Bytes("cusolver.syevd", ElementBytes(type), n, n));
}
