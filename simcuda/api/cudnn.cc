// cuDNN's older interface. This interface offers one algorithm for each convolution, and the algorithm needs no
// workspace. torch uses the graph interface instead, whose plans have a workspace (cudnn_graph.cc).
#include <cudnn.h>
#include <dlfcn.h>

#include <algorithm>
#include <atomic>

#include "simcuda/api/attributes.h"
#include "simcuda/api/exported.h"
#include "simcuda/machine/machine.h"
#include "simcuda/process/handles.h"
#include "simcuda/process/mutex.h"

using memoir::simcuda::In;

namespace {

struct DnnState {
  cudaStream_t stream;  // the first member, as library_work.h requires
};

// A tensor's or filter's shape, which torch reads back.
struct Shape {
  int dimensions;
  cudnnDataType_t type;
  cudnnTensorFormat_t format;
  int sizes[CUDNN_DIM_MAX], strides[CUDNN_DIM_MAX];
};

template <typename Result>
cudnnStatus_t OneAlgorithm(int* found, Result* results) {
  results[0] = Result();
  results[0].status = CUDNN_STATUS_SUCCESS;
  results[0].time = 1;
  *found = 1;
  return CUDNN_STATUS_SUCCESS;
}

}  // namespace

// Returns the version of the library that torch is linked with. The version of the headers here may belong to another
// torch, and torch refuses a cuDNN older than the one that it was built with. torch's own cuDNN is loaded, and reports
// its version without a GPU.
SIMULATED std::size_t cudnnGetVersion() {
  static constinit std::atomic<std::size_t> known{0};
  if (const std::size_t version = known.load(std::memory_order_relaxed)) return version;
  const memoir::simcuda::LibraryLoadLock load;
  void* const library = dlopen("libcudnn.so.9", RTLD_LAZY | RTLD_NOLOAD);
  void* const function = library == nullptr ? nullptr : dlsym(library, "cudnnGetVersion");
  const bool is_real = function != nullptr && function != reinterpret_cast<void*>(&cudnnGetVersion);
  known.store(is_real ? reinterpret_cast<decltype(&cudnnGetVersion)>(function)() : std::size_t{CUDNN_VERSION});
  return known.load(std::memory_order_relaxed);
}
SIMULATED std::size_t cudnnGetCudartVersion() { return memoir::simcuda::kCudaVersion; }
SIMULATED const char* cudnnGetErrorString(cudnnStatus_t status) {
  switch (status) {
    case CUDNN_STATUS_SUCCESS:
      return "CUDNN_STATUS_SUCCESS";
    case CUDNN_STATUS_NOT_SUPPORTED:
      return "CUDNN_STATUS_NOT_SUPPORTED";
    case CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED:
      return "CUDNN_STATUS_INTERNAL_ERROR_DEVICE_ALLOCATION_FAILED";
    default:
      return "simulated cuDNN error";
  }
}
SIMULATED void cudnnGetLastErrorString(char* text, std::size_t bytes) {
  if (bytes > 0) text[0] = '\0';
}

SIMULATED cudnnStatus_t cudnnGetProperty(libraryPropertyType which, int* value) {
  const auto version = static_cast<int>(cudnnGetVersion());
  *value = which == MAJOR_VERSION ? version / 10000 : which == MINOR_VERSION ? version / 100 % 100 : version % 100;
  return CUDNN_STATUS_SUCCESS;
}

SIMULATED cudnnStatus_t cudnnSetStream(cudnnHandle_t handle, cudaStream_t stream) {
  In<DnnState>(handle).stream = stream;
  return CUDNN_STATUS_SUCCESS;
}

SIMULATED cudnnStatus_t cudnnGetStream(cudnnHandle_t handle, cudaStream_t* stream) {
  *stream = In<DnnState>(handle).stream;
  return CUDNN_STATUS_SUCCESS;
}

SIMULATED cudnnStatus_t cudnnSetTensorNdDescriptor(cudnnTensorDescriptor_t handle, cudnnDataType_t type, int dimensions,
                                                   const int sizes[], const int strides[]) {
  if (dimensions > CUDNN_DIM_MAX) return CUDNN_STATUS_NOT_SUPPORTED;
  Shape& shape = In<Shape>(handle);
  shape.type = type;
  shape.dimensions = dimensions;
  std::copy_n(sizes, dimensions, shape.sizes);
  std::copy_n(strides, dimensions, shape.strides);
  return CUDNN_STATUS_SUCCESS;
}

SIMULATED cudnnStatus_t cudnnGetTensorNdDescriptor(const cudnnTensorDescriptor_t handle, int wanted,
                                                   cudnnDataType_t* type, int* dimensions, int sizes[], int strides[]) {
  const Shape& shape = In<Shape>(handle);
  *type = shape.type;
  *dimensions = shape.dimensions;
  std::copy_n(shape.sizes, std::min(wanted, shape.dimensions), sizes);
  std::copy_n(shape.strides, std::min(wanted, shape.dimensions), strides);
  return CUDNN_STATUS_SUCCESS;
}

SIMULATED cudnnStatus_t cudnnSetFilterNdDescriptor(cudnnFilterDescriptor_t handle, cudnnDataType_t type,
                                                   cudnnTensorFormat_t format, int dimensions, const int sizes[]) {
  if (dimensions > CUDNN_DIM_MAX) return CUDNN_STATUS_NOT_SUPPORTED;
  Shape& shape = In<Shape>(handle);
  shape.type = type;
  shape.format = format;
  shape.dimensions = dimensions;
  std::copy_n(sizes, dimensions, shape.sizes);
  return CUDNN_STATUS_SUCCESS;
}

SIMULATED cudnnStatus_t cudnnGetFilterNdDescriptor(const cudnnFilterDescriptor_t handle, int wanted,
                                                   cudnnDataType_t* type, cudnnTensorFormat_t* format, int* dimensions,
                                                   int sizes[]) {
  const Shape& shape = In<Shape>(handle);
  *type = shape.type;
  *format = shape.format;
  *dimensions = shape.dimensions;
  std::copy_n(shape.sizes, std::min(wanted, shape.dimensions), sizes);
  return CUDNN_STATUS_SUCCESS;
}

SIMULATED cudnnStatus_t cudnnGetConvolutionForwardAlgorithm_v7(cudnnHandle_t, const cudnnTensorDescriptor_t,
                                                               const cudnnFilterDescriptor_t,
                                                               const cudnnConvolutionDescriptor_t,
                                                               const cudnnTensorDescriptor_t, const int, int* found,
                                                               cudnnConvolutionFwdAlgoPerf_t* results) {
  return OneAlgorithm(found, results);
}

SIMULATED cudnnStatus_t cudnnGetConvolutionBackwardDataAlgorithm_v7(
    cudnnHandle_t, const cudnnFilterDescriptor_t, const cudnnTensorDescriptor_t, const cudnnConvolutionDescriptor_t,
    const cudnnTensorDescriptor_t, const int, int* found, cudnnConvolutionBwdDataAlgoPerf_t* results) {
  return OneAlgorithm(found, results);
}

SIMULATED cudnnStatus_t cudnnGetConvolutionBackwardFilterAlgorithm_v7(
    cudnnHandle_t, const cudnnTensorDescriptor_t, const cudnnTensorDescriptor_t, const cudnnConvolutionDescriptor_t,
    const cudnnFilterDescriptor_t, const int, int* found, cudnnConvolutionBwdFilterAlgoPerf_t* results) {
  return OneAlgorithm(found, results);
}

SIMULATED cudnnStatus_t cudnnFindConvolutionForwardAlgorithmEx(cudnnHandle_t, const cudnnTensorDescriptor_t,
                                                               const void*, const cudnnFilterDescriptor_t, const void*,
                                                               const cudnnConvolutionDescriptor_t,
                                                               const cudnnTensorDescriptor_t, void*, const int,
                                                               int* found, cudnnConvolutionFwdAlgoPerf_t* results,
                                                               void*, std::size_t) {
  return OneAlgorithm(found, results);
}

SIMULATED cudnnStatus_t cudnnFindConvolutionBackwardDataAlgorithmEx(
    cudnnHandle_t, const cudnnFilterDescriptor_t, const void*, const cudnnTensorDescriptor_t, const void*,
    const cudnnConvolutionDescriptor_t, const cudnnTensorDescriptor_t, void*, const int, int* found,
    cudnnConvolutionBwdDataAlgoPerf_t* results, void*, std::size_t) {
  return OneAlgorithm(found, results);
}

SIMULATED cudnnStatus_t cudnnFindConvolutionBackwardFilterAlgorithmEx(
    cudnnHandle_t, const cudnnTensorDescriptor_t, const void*, const cudnnTensorDescriptor_t, const void*,
    const cudnnConvolutionDescriptor_t, const cudnnFilterDescriptor_t, void*, const int, int* found,
    cudnnConvolutionBwdFilterAlgoPerf_t* results, void*, std::size_t) {
  return OneAlgorithm(found, results);
}

// Reports room for one generator state for each thread that the card can run at once.
SIMULATED cudnnStatus_t cudnnDropoutGetStatesSize(cudnnHandle_t, std::size_t* bytes) {
  constexpr std::size_t kState = 16;
  const auto& profile = memoir::simcuda::TheMachine().profile();
  *bytes = static_cast<std::size_t>(profile.multiprocessors) *
           static_cast<std::size_t>(profile.threads_per_multiprocessor) * kState;
  return CUDNN_STATUS_SUCCESS;
}
