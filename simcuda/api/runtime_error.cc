#include "simcuda/api/runtime_error.h"

#include <cuda.h>

#include "simcuda/api/exported.h"

namespace memoir::simcuda {
namespace {

thread_local cudaError_t last_error = cudaSuccess;

struct ErrorText {
  int code;
  const char* runtime_name;
  const char* driver_name;
  const char* text;
};

// The errors that this device returns, and further errors whose text programs query. The driver and the runtime use the
// same codes.
constexpr ErrorText kTexts[] = {
    {0, "cudaSuccess", "CUDA_SUCCESS", "no error"},
    {1, "cudaErrorInvalidValue", "CUDA_ERROR_INVALID_VALUE", "invalid argument"},
    {2, "cudaErrorMemoryAllocation", "CUDA_ERROR_OUT_OF_MEMORY", "out of memory"},
    {3, "cudaErrorInitializationError", "CUDA_ERROR_NOT_INITIALIZED", "initialization error"},
    {13, "cudaErrorInvalidSymbol", "CUDA_ERROR_INVALID_SYMBOL", "invalid device symbol"},
    {100, "cudaErrorNoDevice", "CUDA_ERROR_NO_DEVICE", "no CUDA-capable device is detected"},
    {101, "cudaErrorInvalidDevice", "CUDA_ERROR_INVALID_DEVICE", "invalid device ordinal"},
    {201, "cudaErrorDeviceUninitialized", "CUDA_ERROR_INVALID_CONTEXT", "invalid device context"},
    {217, "cudaErrorPeerAccessUnsupported", "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED", "peer access is not supported"},
    {400, "cudaErrorInvalidResourceHandle", "CUDA_ERROR_INVALID_HANDLE", "invalid resource handle"},
    {401, "cudaErrorIllegalState", "CUDA_ERROR_ILLEGAL_STATE",
     "the operation cannot be performed in the present state"},
    {500, "cudaErrorSymbolNotFound", "CUDA_ERROR_NOT_FOUND", "named symbol not found"},
    {600, "cudaErrorNotReady", "CUDA_ERROR_NOT_READY", "device not ready"},
    {704, "cudaErrorPeerAccessAlreadyEnabled", "CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED",
     "peer access is already enabled"},
    {705, "cudaErrorPeerAccessNotEnabled", "CUDA_ERROR_PEER_ACCESS_NOT_ENABLED", "peer access has not been enabled"},
    {712, "cudaErrorHostMemoryAlreadyRegistered", "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
     "part or all of the requested memory range is already mapped"},
    {713, "cudaErrorHostMemoryNotRegistered", "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
     "pointer does not correspond to a registered memory region"},
    {801, "cudaErrorNotSupported", "CUDA_ERROR_NOT_SUPPORTED", "operation not supported"},
    {900, "cudaErrorStreamCaptureUnsupported", "CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED",
     "operation not permitted when stream is capturing"},
    {901, "cudaErrorStreamCaptureInvalidated", "CUDA_ERROR_STREAM_CAPTURE_INVALIDATED",
     "operation failed due to a previous error during capture"},
    {902, "cudaErrorStreamCaptureMerge", "CUDA_ERROR_STREAM_CAPTURE_MERGE",
     "operation would result in a merge of separate capture sequences"},
    {903, "cudaErrorStreamCaptureUnmatched", "CUDA_ERROR_STREAM_CAPTURE_UNMATCHED",
     "capture was not ended in the same stream as it began"},
    {906, "cudaErrorStreamCaptureImplicit", "CUDA_ERROR_STREAM_CAPTURE_IMPLICIT",
     "operation would make the legacy stream depend on a capturing blocking stream"},
    {907, "cudaErrorCapturedEvent", "CUDA_ERROR_CAPTURED_EVENT",
     "operation not permitted on an event last recorded in a capturing stream"},
    {999, "cudaErrorUnknown", "CUDA_ERROR_UNKNOWN", "unknown error"},
};

const ErrorText* TextOf(int code) {
  for (const ErrorText& text : kTexts) {
    if (text.code == code) return &text;
  }
  return nullptr;
}

}  // namespace

cudaError_t Return(cudaError_t error) {
  if (error != cudaSuccess && error != cudaErrorNotReady) last_error = error;
  return error;
}

}  // namespace memoir::simcuda

using memoir::simcuda::last_error;
using memoir::simcuda::TextOf;

SIMULATED cudaError_t cudaGetLastError() {
  const cudaError_t error = last_error;
  last_error = cudaSuccess;
  return error;
}

SIMULATED cudaError_t cudaPeekAtLastError() { return last_error; }

SIMULATED const char* cudaGetErrorName(cudaError_t error) {
  const auto* const text = TextOf(error);
  return text == nullptr ? "unrecognized error code" : text->runtime_name;
}

SIMULATED const char* cudaGetErrorString(cudaError_t error) {
  const auto* const text = TextOf(error);
  return text == nullptr ? "unrecognized error code" : text->text;
}

SIMULATED CUresult cuGetErrorName(CUresult error, const char** name) {
  const auto* const text = TextOf(error);
  *name = text == nullptr ? nullptr : text->driver_name;
  return text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}

SIMULATED CUresult cuGetErrorString(CUresult error, const char** string) {
  const auto* const text = TextOf(error);
  *string = text == nullptr ? nullptr : text->text;
  return text == nullptr ? CUDA_ERROR_INVALID_VALUE : CUDA_SUCCESS;
}
