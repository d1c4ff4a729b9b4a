// The driver's modules (taken unread: triton and nvrtc compile for real), launches, streams and events.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include "interpose/simcuda/api/attributes.h"
#include "interpose/simcuda/api/exported.h"
#include "interpose/simcuda/capture.h"
#include "interpose/simcuda/handles.h"
#include "interpose/simcuda/kernels.h"
#include "interpose/simcuda/machine.h"
#include "interpose/simcuda/streams.h"

using memoir::simcuda::Kernel;
using memoir::simcuda::TheMachine;

namespace {

CUresult Driver(cudaError_t error) { return static_cast<CUresult>(error); }

CUresult NewModule(CUmodule* module) {
  *module = reinterpret_cast<CUmodule>(memoir::simcuda::NewHandle());
  return CUDA_SUCCESS;
}

CUresult Launch(CUfunction function, CUstream handle) {
  auto* const stream = memoir::simcuda::FindStream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  CountLaunch(*reinterpret_cast<Kernel*>(function));
  if (!AddNode(*stream)) TheMachine().progress().Queue(stream->number());
  return CUDA_SUCCESS;
}

}  // namespace

SIMULATED CUresult cuModuleLoad(CUmodule* module, const char*) { return NewModule(module); }
SIMULATED CUresult cuModuleLoadData(CUmodule* module, const void*) { return NewModule(module); }
SIMULATED CUresult cuModuleLoadDataEx(CUmodule* module, const void*, unsigned, CUjit_option*, void**) {
  return NewModule(module);
}

SIMULATED CUresult cuModuleUnload(CUmodule module) {
  memoir::simcuda::FreeHandle(module);
  return CUDA_SUCCESS;
}

SIMULATED CUresult cuModuleGetFunction(CUfunction* function, CUmodule, const char* name) {
  *function = reinterpret_cast<CUfunction>(&memoir::simcuda::NewKernel(name));
  return CUDA_SUCCESS;
}

// What is linked is not looked at, but callers copy it.
SIMULATED CUresult cuLinkComplete(CUlinkState, void** image, std::size_t* bytes) {
  static char nothing[16];
  *image = nothing;
  *bytes = sizeof nothing;
  return CUDA_SUCCESS;
}

SIMULATED CUresult cuLinkCreate_v2(unsigned, CUjit_option*, void**, CUlinkState* state) {
  *state = reinterpret_cast<CUlinkState>(memoir::simcuda::NewHandle());
  return CUDA_SUCCESS;
}

SIMULATED CUresult cuLinkAddData_v2(CUlinkState, CUjitInputType, void*, std::size_t, const char*, unsigned,
                                    CUjit_option*, void**) {
  return CUDA_SUCCESS;
}

SIMULATED CUresult cuLinkDestroy(CUlinkState state) {
  memoir::simcuda::FreeHandle(state);
  return CUDA_SUCCESS;
}

SIMULATED CUresult cuFuncGetAttribute(int* value, CUfunction_attribute attribute, CUfunction) {
  switch (attribute) {
    case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
      *value = 1024;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_NUM_REGS:
      *value = 32;
      return CUDA_SUCCESS;
    case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    case CU_FUNC_ATTRIBUTE_PTX_VERSION:
      *value = TheMachine().profile().compute_major * 10 + TheMachine().profile().compute_minor;
      return CUDA_SUCCESS;
    default:
      *value = 0;
      return CUDA_SUCCESS;
  }
}

SIMULATED CUresult cuLaunchKernel(CUfunction function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                                  unsigned, CUstream stream, void**, void**) {
  return Launch(function, stream);
}

SIMULATED CUresult cuLaunchKernelEx(const CUlaunchConfig* configuration, CUfunction function, void**, void**) {
  return Launch(function, configuration->hStream);
}

SIMULATED CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned, unsigned, unsigned, unsigned, unsigned,
                                             unsigned, unsigned, CUstream stream, void**) {
  return Launch(function, stream);
}

SIMULATED CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, CUfunction, int threads,
                                                               std::size_t shared) {
  *blocks = memoir::simcuda::BlocksPerMultiprocessor(TheMachine().profile(), threads, shared);
  return CUDA_SUCCESS;
}

SIMULATED CUresult cuOccupancyMaxActiveClusters(int* clusters, CUfunction, const CUlaunchConfig*) {
  *clusters = TheMachine().profile().multiprocessors;
  return CUDA_SUCCESS;
}

// A description of a tensor that kernels would read.
SIMULATED CUresult cuTensorMapEncodeTiled(CUtensorMap*, CUtensorMapDataType, cuuint32_t, void*, const cuuint64_t*,
                                          const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
                                          CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                                          CUtensorMapFloatOOBfill) {
  return CUDA_SUCCESS;
}

SIMULATED CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return Driver(cudaStreamCreateWithFlags(stream, flags));
}
SIMULATED CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return Driver(cudaStreamCreateWithPriority(stream, flags, priority));
}
SIMULATED CUresult cuStreamDestroy_v2(CUstream stream) { return Driver(cudaStreamDestroy(stream)); }
SIMULATED CUresult cuStreamQuery(CUstream stream) { return Driver(cudaStreamQuery(stream)); }
SIMULATED CUresult cuStreamSynchronize(CUstream stream) { return Driver(cudaStreamSynchronize(stream)); }
SIMULATED CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return Driver(cudaStreamWaitEvent(stream, event, flags));
}
SIMULATED CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  const auto* const stream = memoir::simcuda::FindStream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *status = static_cast<CUstreamCaptureStatus>(StateOf(*stream));
  return CUDA_SUCCESS;
}

SIMULATED CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return Driver(cudaLaunchHostFunc(stream, function, data));
}

SIMULATED CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return Driver(cudaEventCreateWithFlags(event, flags));
}
SIMULATED CUresult cuEventDestroy_v2(CUevent event) { return Driver(cudaEventDestroy(event)); }
SIMULATED CUresult cuEventRecord(CUevent event, CUstream stream) { return Driver(cudaEventRecord(event, stream)); }
SIMULATED CUresult cuEventQuery(CUevent event) { return Driver(cudaEventQuery(event)); }
SIMULATED CUresult cuEventSynchronize(CUevent event) { return Driver(cudaEventSynchronize(event)); }
