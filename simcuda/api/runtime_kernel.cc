// The runtime's kernels: registration by static initialisers, launches, and queries.
//
// Code that nvcc generates calls the functions with two underscores. No header of the wheels declares all of them, so
// these declarations follow nvcc's crt/host_runtime.h.
#include <cuda_runtime_api.h>

#include <array>

#include "simcuda/api/attributes.h"
#include "simcuda/api/exported.h"
#include "simcuda/api/runtime_error.h"
#include "simcuda/kernels/kernels.h"
#include "simcuda/kernels/uncomputed_launches.h"
#include "simcuda/machine/machine.h"
#include "simcuda/process/handles.h"
#include "simcuda/streams/graph_capture.h"

using memoir::simcuda::Expect;
using memoir::simcuda::FindKernel;
using memoir::simcuda::Kernel;
using memoir::simcuda::Return;
using memoir::simcuda::TheMachine;

namespace {

struct CallConfiguration {
  dim3 grid, block;
  std::size_t shared = 0;
  cudaStream_t stream = nullptr;
};

// kernel<<<...>>> pushes a configuration, and the kernel's host function pops it. Configurations are nested only if an
// argument expression launches a kernel.
constexpr std::size_t kDeepest = 16;
thread_local std::array<CallConfiguration, kDeepest> configurations;
thread_local std::size_t depth = 0;

cudaError_t Launch(Kernel& kernel, void** parameters, cudaStream_t handle) {
  auto* const stream = memoir::simcuda::FindStream(handle);
  if (stream == nullptr) return Return(cudaErrorInvalidResourceHandle);
  if (TheMachine().devices() == 0) return Return(cudaErrorNoDevice);
  if (!TheMachine().device(memoir::simcuda::CurrentDevice()).Start()) return Return(cudaErrorMemoryAllocation);
  CountLaunch(kernel);
  MarkWrittenByUnknown(kernel, parameters, *stream);
  if (!AddNode(*stream)) TheMachine().progress().Queue(stream->number());
  return cudaSuccess;
}

}  // namespace

SIMULATED unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, std::size_t shared, cudaStream_t stream) {
  configurations[depth++ % kDeepest] = {grid, block, shared, stream};
  return 0;
}

SIMULATED cudaError_t __cudaPopCallConfiguration(dim3* grid, dim3* block, std::size_t* shared, void* stream) {
  if (depth == 0) return Return(cudaErrorUnknown);
  const CallConfiguration& top = configurations[--depth % kDeepest];
  *grid = top.grid;
  *block = top.block;
  *shared = top.shared;
  *static_cast<cudaStream_t*>(stream) = top.stream;
  return cudaSuccess;
}

SIMULATED void** __cudaRegisterFatBinary(void*) { return static_cast<void**>(memoir::simcuda::NewHandle()); }
SIMULATED void __cudaRegisterFatBinaryEnd(void**) {}
SIMULATED void __cudaUnregisterFatBinary(void**) {}  // called at exit, so the handle is not freed
SIMULATED char __cudaInitModule(void**) { return 1; }

SIMULATED void __cudaRegisterFunction(void**, const char* host, char*, const char* name, int, uint3*, uint3*, dim3*,
                                      dim3*, int*) {
  memoir::simcuda::RegisterKernel(host, name);
}

SIMULATED void __cudaRegisterVar(void**, char* host, char*, const char*, int, std::size_t bytes, int, int) {
  memoir::simcuda::RegisterVariable(static_cast<const void*>(host), bytes);
}

SIMULATED void __cudaRegisterManagedVar(void**, void** host, char*, const char*, int, std::size_t bytes, int, int) {
  memoir::simcuda::RegisterVariable(static_cast<const void*>(host), bytes);
}

SIMULATED cudaError_t __cudaGetKernel(cudaKernel_t* kernel, const void* host) {
  *kernel = reinterpret_cast<cudaKernel_t>(&FindKernel(host));
  return cudaSuccess;
}

SIMULATED cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3, dim3, void** parameters, std::size_t,
                                         cudaStream_t stream) {
  return Launch(*reinterpret_cast<Kernel*>(kernel), parameters, stream);
}

SIMULATED cudaError_t cudaLaunchKernel(const void* host, dim3, dim3, void** parameters, std::size_t,
                                       cudaStream_t stream) {
  return Launch(FindKernel(host), parameters, stream);
}

SIMULATED cudaError_t cudaLaunchCooperativeKernel(const void* host, dim3, dim3, void** parameters, std::size_t,
                                                  cudaStream_t stream) {
  return Launch(FindKernel(host), parameters, stream);
}

SIMULATED cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t* configuration, const void* host,
                                          void** parameters) {
  return Launch(FindKernel(host), parameters, configuration->stream);
}

SIMULATED cudaError_t cudaFuncGetName(const char** name, const void* host) {
  const Kernel& kernel = FindKernel(host);
  if (&kernel == &FindKernel(nullptr)) return Return(cudaErrorInvalidDeviceFunction);
  *name = kernel.name;
  return cudaSuccess;
}

SIMULATED cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* attributes, const void*) {
  const auto& profile = TheMachine().profile();
  *attributes = cudaFuncAttributes();
  // The real values are in the kernels' binaries, whose form is not public.
  attributes->maxThreadsPerBlock = 1024;
  attributes->numRegs = 32;
  attributes->binaryVersion = attributes->ptxVersion = profile.binary_version;
  attributes->maxDynamicSharedSizeBytes = static_cast<int>(profile.shared_memory_per_block);
  return Expect(TheMachine().devices() > 0, cudaErrorNoDevice);
}

SIMULATED cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int threads,
                                                                    std::size_t shared) {
  *blocks = memoir::simcuda::BlocksPerMultiprocessor(TheMachine().profile(), threads, shared);
  return cudaSuccess;
}

SIMULATED cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int* blocks, const void* host, int threads,
                                                                             std::size_t shared, unsigned) {
  return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, host, threads, shared);
}

SIMULATED cudaError_t cudaOccupancyMaxActiveClusters(int* clusters, const void*, const cudaLaunchConfig_t*) {
  *clusters = TheMachine().profile().multiprocessors;
  return cudaSuccess;
}

// Functions of cuda_profiler_api.h, which the wheels do not contain.
SIMULATED cudaError_t cudaProfilerStart() { return cudaSuccess; }
SIMULATED cudaError_t cudaProfilerStop() { return cudaSuccess; }
