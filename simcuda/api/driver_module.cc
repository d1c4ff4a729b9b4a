// The driver's modules (images of compiled kernels), and launches of their kernels. The simulated driver accepts
// modules and runs nothing. triton and nvrtc compile their modules as for a real GPU.
#include <cuda.h>
#include <cuda_runtime_api.h>

#include <fstream>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "simcuda/api/attributes.h"
#include "simcuda/api/exported.h"
#include "simcuda/kernels/kernels.h"
#include "simcuda/kernels/uncomputed_launches.h"
#include "simcuda/machine/machine.h"
#include "simcuda/process/handles.h"
#include "simcuda/streams/graph_capture.h"
#include "simcuda/streams/streams.h"

using memoir::simcuda::Kernel;
using memoir::simcuda::TheMachine;

namespace {

using memoir::simcuda::ModuleParameters;

CUresult NewModule(CUmodule* module, const void* image) {
  const std::string_view bytes(static_cast<const char*>(image), memoir::simcuda::BytesOfImage(image));
  *module = reinterpret_cast<CUmodule>(new ModuleParameters(memoir::simcuda::ParametersOfImage(bytes)));
  return CUDA_SUCCESS;
}

// Marks as unknown the bytes that a launch may write (uncomputed_launches.h). A launch passes either the address of
// each parameter, or one buffer with all parameters.
void MarkWrittenByUnknown(const Kernel& kernel, void** parameters, void** extra, memoir::simcuda::Stream& stream) {
  const void* buffer = nullptr;
  std::size_t bytes = 0;
  for (; extra != nullptr && *extra != CU_LAUNCH_PARAM_END; extra += 2) {
    if (*extra == CU_LAUNCH_PARAM_BUFFER_POINTER) buffer = extra[1];
    if (*extra == CU_LAUNCH_PARAM_BUFFER_SIZE) bytes = *static_cast<const std::size_t*>(extra[1]);
  }
  if (buffer != nullptr) {
    memoir::simcuda::MarkWrittenByUnknown(buffer, bytes, stream);
  } else {
    memoir::simcuda::MarkWrittenByUnknown(kernel, parameters, stream);
  }
}

CUresult Launch(CUfunction function, CUstream handle, void** parameters, void** extra) {
  auto* const stream = memoir::simcuda::FindStream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  Kernel& kernel = *reinterpret_cast<Kernel*>(function);
  CountLaunch(kernel);
  MarkWrittenByUnknown(kernel, parameters, extra, *stream);
  if (!AddNode(*stream)) TheMachine().progress().Queue(stream->number());
  return CUDA_SUCCESS;
}

}  // namespace

SIMULATED CUresult cuModuleLoad(CUmodule* module, const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return CUDA_ERROR_FILE_NOT_FOUND;
  const std::string image{std::istreambuf_iterator<char>(file), {}};
  *module = reinterpret_cast<CUmodule>(new ModuleParameters(memoir::simcuda::ParametersOfImage(image)));
  return CUDA_SUCCESS;
}

SIMULATED CUresult cuModuleLoadData(CUmodule* module, const void* image) { return NewModule(module, image); }
SIMULATED CUresult cuModuleLoadDataEx(CUmodule* module, const void* image, unsigned, CUjit_option*, void**) {
  return NewModule(module, image);
}

SIMULATED CUresult cuModuleUnload(CUmodule module) {
  delete reinterpret_cast<ModuleParameters*>(module);
  return CUDA_SUCCESS;
}

SIMULATED CUresult cuModuleGetFunction(CUfunction* function, CUmodule module, const char* name) {
  const auto& listed = *reinterpret_cast<const ModuleParameters*>(module);
  const auto found = listed.find(std::string_view(name));
  auto parameters = found == listed.end() ? std::nullopt : std::optional(found->second);
  *function = reinterpret_cast<CUfunction>(&memoir::simcuda::NewKernel(name, std::move(parameters)));
  return CUDA_SUCCESS;
}

// Accepts kernels of the runtime and kernels of modules, because both are `Kernel` objects here.
SIMULATED CUresult cuKernelGetName(const char** name, CUkernel handle) {
  const auto* const kernel = reinterpret_cast<const Kernel*>(handle);
  if (kernel == &memoir::simcuda::FindKernel(nullptr)) return CUDA_ERROR_INVALID_HANDLE;  // never registered
  *name = kernel->name;
  return CUDA_SUCCESS;
}
SIMULATED CUresult cuFuncGetName(const char** name, CUfunction function) {
  return cuKernelGetName(name, reinterpret_cast<CUkernel>(function));
}

// The content of the linked image does not matter here, but callers copy the image.
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
                                  unsigned, CUstream stream, void** parameters, void** extra) {
  return Launch(function, stream, parameters, extra);
}

SIMULATED CUresult cuLaunchKernelEx(const CUlaunchConfig* configuration, CUfunction function, void** parameters,
                                    void** extra) {
  return Launch(function, configuration->hStream, parameters, extra);
}

SIMULATED CUresult cuLaunchCooperativeKernel(CUfunction function, unsigned, unsigned, unsigned, unsigned, unsigned,
                                             unsigned, unsigned, CUstream stream, void** parameters) {
  return Launch(function, stream, parameters, nullptr);
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

// Encodes the description of a tensor that kernels read or write. Here the description contains only the tensor's
// address, so that MarkWrittenByUnknown finds the address among a kernel's parameters.
SIMULATED CUresult cuTensorMapEncodeTiled(CUtensorMap* map, CUtensorMapDataType, cuuint32_t, void* address,
                                          const cuuint64_t*, const cuuint64_t*, const cuuint32_t*, const cuuint32_t*,
                                          CUtensorMapInterleave, CUtensorMapSwizzle, CUtensorMapL2promotion,
                                          CUtensorMapFloatOOBfill) {
  *map = {};
  map->opaque[0] = reinterpret_cast<cuuint64_t>(address);
  return CUDA_SUCCESS;
}
