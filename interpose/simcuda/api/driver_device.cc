// The driver's devices and contexts, and how other libraries find the driver's functions.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "interpose/simcuda/api/attributes.h"
#include "interpose/simcuda/api/exported.h"
#include "interpose/simcuda/machine.h"
#include "interpose/simcuda/message.h"
#include "interpose/simcuda/mutex.h"

using memoir::simcuda::CurrentDevice;
using memoir::simcuda::TheMachine;

namespace {

// A context is its device's, and its handle points here.
std::array<char, memoir::simcuda::kMostDevices> contexts;
thread_local std::vector<CUcontext>* context_stack = nullptr;  // leaked with its thread, if ever made

CUcontext ContextOf(int device) { return reinterpret_cast<CUcontext>(&contexts[static_cast<std::size_t>(device)]); }

// The file's name without its folder; "a library" of which nothing is known.
std::string LibraryAt(const void* code) {
  Dl_info found{};
  if (dladdr(code, &found) == 0 || found.dli_fname == nullptr) return "a library";
  const std::string path = found.dli_fname;
  return path.substr(path.rfind('/') + 1);
}

// -1: none of ours.
int DeviceOf(CUcontext context) {
  const auto index = reinterpret_cast<const char*>(context) - contexts.data();
  return index >= 0 && TheMachine().IsDevice(static_cast<int>(index)) ? static_cast<int>(index) : -1;
}

CUresult Known(CUdevice device) { return TheMachine().IsDevice(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE; }

// This library's own symbols, whatever else the process holds.
void* Self() {
  static constinit std::atomic<void*> self{nullptr};
  if (void* const found = self.load(std::memory_order_acquire)) return found;
  const memoir::simcuda::LibraryLoad load;
  Dl_info info{};
  dladdr(&contexts, &info);
  self.store(dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD), std::memory_order_release);
  return self.load(std::memory_order_relaxed);
}

// Names are without version; the newest that the headers had is taken, as a driver of their age would. But what takes
// other parameters since CUDA 13 is that of the CUDA that is asked for.
void* FindDriverFunction(const std::string& name, int version) {
  const bool as_before = version < 13000 && (name == "cuCtxSynchronize" || name == "cuCtxGetDevice");
  for (const char* const suffix : {"_v4", "_v3", "_v2", ""}) {
    if (as_before && *suffix != '\0') continue;
    if (void* const found = dlsym(Self(), (name + suffix).c_str())) return found;
  }
  return nullptr;
}

}  // namespace

SIMULATED CUresult cuInit(unsigned) { return TheMachine().devices() > 0 ? CUDA_SUCCESS : CUDA_ERROR_NO_DEVICE; }

SIMULATED CUresult cuDriverGetVersion(int* version) {
  *version = memoir::simcuda::kCudaVersion;
  return CUDA_SUCCESS;
}

SIMULATED CUresult cuDeviceGetCount(int* count) {
  *count = TheMachine().devices();
  return CUDA_SUCCESS;
}

SIMULATED CUresult cuDeviceGet(CUdevice* device, int ordinal) {
  *device = ordinal;
  return Known(ordinal);
}

SIMULATED CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  std::snprintf(name, static_cast<std::size_t>(length), "%s", TheMachine().profile().name.c_str());
  return Known(device);
}

SIMULATED CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  memoir::simcuda::FillUuid(device, uuid->bytes);
  return Known(device);
}

SIMULATED CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  *bytes = TheMachine().profile().memory;
  return Known(device);
}

SIMULATED CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  *value = memoir::simcuda::Attribute(TheMachine().profile(), device, attribute);
  return Known(device);
}

SIMULATED CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  memoir::simcuda::FillBusId(device, text, length);
  return Known(device);
}

SIMULATED CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  *can = device != peer ? 1 : 0;
  return Known(device) == CUDA_SUCCESS ? Known(peer) : CUDA_ERROR_INVALID_DEVICE;
}

SIMULATED CUresult cuDevicePrimaryCtxRetain(CUcontext* context, CUdevice device) {
  if (!TheMachine().IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  *context = ContextOf(device);
  return TheMachine().device(device).Start() ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
}

SIMULATED CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned* flags, int* active) {
  if (!TheMachine().IsDevice(device)) return CUDA_ERROR_INVALID_DEVICE;
  if (flags != nullptr) *flags = 0;
  *active = TheMachine().device(device).started() ? 1 : 0;
  return CUDA_SUCCESS;
}

SIMULATED CUresult cuCtxGetCurrent(CUcontext* context) {
  const bool started = TheMachine().devices() > 0 && TheMachine().device(CurrentDevice()).started();
  *context = started ? ContextOf(CurrentDevice()) : nullptr;
  return CUDA_SUCCESS;
}

SIMULATED CUresult cuCtxSetCurrent(CUcontext context) {
  if (context == nullptr) return CUDA_SUCCESS;
  if (DeviceOf(context) < 0) return CUDA_ERROR_INVALID_CONTEXT;
  memoir::simcuda::SetCurrentDevice(DeviceOf(context));
  return CUDA_SUCCESS;
}

SIMULATED CUresult cuCtxPushCurrent_v2(CUcontext context) {
  if (DeviceOf(context) < 0) return CUDA_ERROR_INVALID_CONTEXT;
  if (context_stack == nullptr) context_stack = new std::vector<CUcontext>;
  context_stack->push_back(ContextOf(CurrentDevice()));
  return cuCtxSetCurrent(context);
}

SIMULATED CUresult cuCtxPopCurrent_v2(CUcontext* context) {
  if (context_stack == nullptr || context_stack->empty()) return CUDA_ERROR_INVALID_CONTEXT;
  if (context != nullptr) *context = ContextOf(CurrentDevice());
  const CUcontext before = context_stack->back();
  context_stack->pop_back();
  return cuCtxSetCurrent(before);
}

SIMULATED CUresult cuCtxGetDevice(CUdevice* device) {
  *device = CurrentDevice();
  if (TheMachine().devices() > 0 && !TheMachine().device(*device).started()) return CUDA_ERROR_INVALID_CONTEXT;
  return Known(*device);
}

SIMULATED CUresult cuCtxGetDevice_v2(CUdevice* device, CUcontext context) {
  if (context == nullptr) return cuCtxGetDevice(device);
  *device = DeviceOf(context);
  return *device < 0 ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_SUCCESS;
}

SIMULATED CUresult cuCtxSynchronize() {
  return cudaDeviceSynchronize() == cudaSuccess ? CUDA_SUCCESS : CUDA_ERROR_NOT_PERMITTED;
}

SIMULATED CUresult cuCtxSynchronize_v2(CUcontext context) {
  if (context == nullptr) return cuCtxSynchronize();
  const int device = DeviceOf(context);
  if (device < 0) return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  const int before = CurrentDevice();
  memoir::simcuda::SetCurrentDevice(device);
  const CUresult result = cuCtxSynchronize();
  memoir::simcuda::SetCurrentDevice(before);
  return result;
}

// The private tables by which a statically linked runtime talks to the driver: refused, and such libraries (extensions
// with a runtime of their own) then fail with an error of theirs. Said once, with the first one's name; not of
// NVIDIA's own that do without: CUPTI, of which torch's profiler says it, and the compilers, which need no GPU.
SIMULATED CUresult cuGetExportTable(const void** table, const CUuuid*) {
  static std::atomic<bool> said{false};
  *table = nullptr;
  const std::string library = LibraryAt(__builtin_return_address(0));
  for (const char* own : {"libcupti", "libnvrtc", "libnvJitLink"}) {
    if (library.starts_with(own)) return CUDA_ERROR_NOT_FOUND;
  }
  if (said.exchange(true)) return CUDA_ERROR_NOT_FOUND;
  memoir::simcuda::Say(
      library +
      " brings a CUDA runtime of its own, linked into it, which only a real driver serves; what it does "
      "on a GPU fails here with an error of its own (a build that uses libcudart.so would run)");
  return CUDA_ERROR_NOT_FOUND;
}

SIMULATED CUresult cuGetProcAddress_v2(const char* name, void** function, int version, cuuint64_t,
                                       CUdriverProcAddressQueryResult* status) {
  *function = FindDriverFunction(name, version);
  const bool found = *function != nullptr;
  if (status != nullptr) *status = found ? CU_GET_PROC_ADDRESS_SUCCESS : CU_GET_PROC_ADDRESS_SYMBOL_NOT_FOUND;
  return found ? CUDA_SUCCESS : CUDA_ERROR_NOT_FOUND;
}

SIMULATED cudaError_t cudaGetDriverEntryPointByVersion(const char* name, void** function, unsigned version,
                                                       unsigned long long, cudaDriverEntryPointQueryResult* status) {
  *function = FindDriverFunction(name, static_cast<int>(version));
  if (status != nullptr)
    *status = *function != nullptr ? cudaDriverEntryPointSuccess : cudaDriverEntryPointSymbolNotFound;
  return cudaSuccess;
}
