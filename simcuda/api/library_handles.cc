// Handles of cuBLAS, cuBLASLt, cuDNN and cuSOLVER. On a real card a handle takes device memory. profiles.txt has the
// bytes for a few cards; on other cards a handle takes 0 bytes, unless MEMOIR_SIM_HANDLES sets the bytes. If the device
// has too little memory left, the call that creates the handle fails with the library's own error.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cudnn.h>
#include <cusolverDn.h>

#include <array>
#include <map>
#include <memory>
#include <mutex>

#include "simcuda/api/exported.h"
#include "simcuda/machine/library_charges.h"
#include "simcuda/machine/machine.h"
#include "simcuda/process/handles.h"
#include "simcuda/process/mutex.h"

using memoir::simcuda::CurrentDevice;
using memoir::simcuda::LibraryCharge;
using memoir::simcuda::TheMachine;

namespace {

struct Charges {
  memoir::simcuda::Mutex mutex;
  std::map<const void*, std::unique_ptr<LibraryCharge>> of;  // by handle
  std::array<std::unique_ptr<LibraryCharge>, memoir::simcuda::kMostDevices> cudnn;
};

constinit memoir::simcuda::LazyObject<Charges> charges;

Charges& TheCharges() { return charges.Get(); }

// Creates a handle and charges its memory. `of_card`: the bytes in the card profile.
template <typename Handle>
bool Make(Handle* handle, const char* library, std::uint64_t of_card = 0) {
  const std::uint64_t asked = TheMachine().configuration().handle, bytes = asked > 0 ? asked : of_card;
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

// Charges the memory that cuDNN keeps from its first use on the device. False if the device has too little left.
bool ChargeCudnn() {
  const auto device = static_cast<std::size_t>(CurrentDevice());
  const std::uint64_t bytes = TheMachine().profile().cudnn;
  if (bytes == 0 || TheMachine().configuration().handle > 0 || TheMachine().devices() == 0) return true;
  const std::lock_guard lock(TheCharges().mutex);
  std::unique_ptr<LibraryCharge>& charge = TheCharges().cudnn[device];
  if (charge == nullptr) charge = std::make_unique<LibraryCharge>("libcudnn.so");
  return charge->bytes() > 0 || charge->Add(TheMachine().device(CurrentDevice()), bytes);
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
  const std::uint64_t of_card = TheMachine().profile().cublas_handle;
  return Make(handle, "libcublas.so", of_card) ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_ALLOC_FAILED;
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
  if (!ChargeCudnn()) {
    *handle = nullptr;
    return CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED;
  }
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
