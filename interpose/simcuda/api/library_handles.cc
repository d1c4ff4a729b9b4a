// Handles of cuBLAS, cuBLASLt, cuDNN and cuSOLVER, which take memory of the device on a real card. How much is
// published nowhere, so it is nothing here, unless MEMOIR_SIM_HANDLES says how much; where that is not left, the error
// is theirs.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cudnn.h>
#include <cusolverDn.h>

#include <map>
#include <memory>
#include <mutex>

#include "interpose/simcuda/api/exported.h"
#include "interpose/simcuda/handles.h"
#include "interpose/simcuda/library_charges.h"
#include "interpose/simcuda/machine.h"
#include "interpose/simcuda/mutex.h"

using memoir::simcuda::CurrentDevice;
using memoir::simcuda::LibraryCharge;
using memoir::simcuda::TheMachine;

namespace {

struct Charges {
  memoir::simcuda::Mutex mutex;
  std::map<const void*, std::unique_ptr<LibraryCharge>> of;
};

constinit memoir::simcuda::MadeOnce<Charges> charges;

Charges& TheCharges() { return charges.Get(); }

template <typename Handle>
bool Make(Handle* handle, const char* library) {
  const std::uint64_t bytes = TheMachine().configuration().handle;
  auto charge = std::make_unique<LibraryCharge>(library);
  if (bytes > 0 && TheMachine().devices() > 0 && !charge->Add(TheMachine().device(CurrentDevice()), bytes)) {
    *handle = nullptr;
    return false;
  }
  memoir::simcuda::OutHandle(handle);
  const std::lock_guard lock(TheCharges().mutex);
  if (bytes > 0) TheCharges().of[*handle] = std::move(charge);
  return true;
}

template <typename Handle>
void End(Handle handle) {
  std::unique_ptr<LibraryCharge> charge;
  {
    const std::lock_guard lock(TheCharges().mutex);
    const auto found = TheCharges().of.find(handle);
    if (found != TheCharges().of.end()) {
      charge = std::move(found->second);
      TheCharges().of.erase(found);
    }
  }
  memoir::simcuda::FreeHandle(handle);
}

}  // namespace

SIMULATED cublasStatus_t cublasCreate_v2(cublasHandle_t* handle) {
  return Make(handle, "libcublas.so") ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}
SIMULATED cublasStatus_t cublasDestroy_v2(cublasHandle_t handle) {
  End(handle);
  return CUBLAS_STATUS_SUCCESS;
}

SIMULATED cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  return Make(handle, "libcublasLt.so") ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
}
SIMULATED cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  End(handle);
  return CUBLAS_STATUS_SUCCESS;
}

SIMULATED cudnnStatus_t cudnnCreate(cudnnHandle_t* handle) {
  return Make(handle, "libcudnn.so") ? CUDNN_STATUS_SUCCESS : CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
}
SIMULATED cudnnStatus_t cudnnDestroy(cudnnHandle_t handle) {
  End(handle);
  return CUDNN_STATUS_SUCCESS;
}

SIMULATED cusolverStatus_t cusolverDnCreate(cusolverDnHandle_t* handle) {
  return Make(handle, "libcusolver.so") ? CUSOLVER_STATUS_SUCCESS : CUSOLVER_STATUS_ALLOC_FAILED;
}
SIMULATED cusolverStatus_t cusolverDnDestroy(cusolverDnHandle_t handle) {
  End(handle);
  return CUSOLVER_STATUS_SUCCESS;
}
