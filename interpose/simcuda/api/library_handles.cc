// Handles of cuBLAS, cuBLASLt, cuDNN and cuSOLVER, which take memory of the device on a real card. How much is known of
// a few cards (profiles.txt), and is nothing here of others, unless MEMOIR_SIM_HANDLES says how much; where that is not
// left, the error is theirs.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cudnn.h>
#include <cusolverDn.h>

#include <array>
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
  std::map<const void*, std::unique_ptr<LibraryCharge>> of;  // by handle
  std::array<std::unique_ptr<LibraryCharge>, memoir::simcuda::kMostDevices> cudnn;
};

constinit memoir::simcuda::MadeOnce<Charges> charges;

Charges& TheCharges() { return charges.Get(); }

// `of_card`: what the simulated card's profile says.
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

// What cuDNN takes once it is used on the device, and keeps. False: the device has not so much left.
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
