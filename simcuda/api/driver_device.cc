// The driver's devices and contexts, and the functions by which other libraries find the driver's functions.
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <dlfcn.h>

#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "simcuda/api/attributes.h"
#include "simcuda/api/exported.h"
#include "simcuda/machine/machine.h"
#include "simcuda/process/mutex.h"
#include "simcuda/process/simulation_message.h"

using memoir::simcuda::CurrentDevice;
using memoir::simcuda::TheMachine;

namespace {

// The handle of a device's context points into this array.
std::array<char, memoir::simcuda::kMostDevices> contexts;
thread_local std::vector<CUcontext>* context_stack = nullptr;  // created at first use; leaked when the thread ends

CUcontext ContextOf(int device) { return reinterpret_cast<CUcontext>(&contexts[static_cast<std::size_t>(device)]); }

// Returns the file name, without folder, of the library that contains `code`. "a library" if unknown.
std::string LibraryAt(const void* code) {
  Dl_info found{};
  if (dladdr(code, &found) == 0 || found.dli_fname == nullptr) return "a library";
  const std::string path = found.dli_fname;
  return path.substr(path.rfind('/') + 1);
}

// Returns the device of a simulated context. -1 for any other context.
int DeviceOf(CUcontext context) {
  const auto index = reinterpret_cast<const char*>(context) - contexts.data();
  return index >= 0 && TheMachine().IsDevice(static_cast<int>(index)) ? static_cast<int>(index) : -1;
}

CUresult CheckDevice(CUdevice device) {
  return TheMachine().IsDevice(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

// Returns a handle of this library for dlsym, so that a look-up finds this library's functions, whatever else the
// process has loaded.
void* Self() {
  static constinit std::atomic<void*> self{nullptr};
  if (void* const found = self.load(std::memory_order_acquire)) return found;
  const memoir::simcuda::LibraryLoadLock load;
  Dl_info info{};
  dladdr(&contexts, &info);
  self.store(dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD), std::memory_order_release);
  return self.load(std::memory_order_relaxed);
}

// Finds the driver function `name`, which has no version suffix (_v2). Returns the newest version in the headers, as
// the driver of the headers' CUDA does. For functions whose parameters changed in CUDA 13, returns the version of the
// function that CUDA `version` has.
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
  return CheckDevice(ordinal);
}

SIMULATED CUresult cuDeviceGetName(char* name, int length, CUdevice device) {
  std::snprintf(name, static_cast<std::size_t>(length), "%s", TheMachine().profile().name.c_str());
  return CheckDevice(device);
}

SIMULATED CUresult cuDeviceGetUuid_v2(CUuuid* uuid, CUdevice device) {
  memoir::simcuda::FillUuid(device, uuid->bytes);
  return CheckDevice(device);
}

SIMULATED CUresult cuDeviceTotalMem_v2(std::size_t* bytes, CUdevice device) {
  *bytes = TheMachine().profile().memory;
  return CheckDevice(device);
}

SIMULATED CUresult cuDeviceGetAttribute(int* value, CUdevice_attribute attribute, CUdevice device) {
  *value = memoir::simcuda::Attribute(TheMachine().profile(), device, attribute);
  return CheckDevice(device);
}

SIMULATED CUresult cuDeviceGetPCIBusId(char* text, int length, CUdevice device) {
  memoir::simcuda::FillBusId(device, text, length);
  return CheckDevice(device);
}

SIMULATED CUresult cuDeviceCanAccessPeer(int* can, CUdevice device, CUdevice peer) {
  *can = device != peer ? 1 : 0;
  return CheckDevice(device) == CUDA_SUCCESS ? CheckDevice(peer) : CUDA_ERROR_INVALID_DEVICE;
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
  return CheckDevice(*device);
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

// Refuses the private tables through which a statically linked runtime uses the driver. So a library with such a
// runtime (some extensions) fails with its own error. The first refusal prints one line, which names the refused
// library. No line is printed if the library is CUPTI, whose failure torch's profiler reports, or one of NVIDIA's
// compilers, which need no GPU.
SIMULATED CUresult cuGetExportTable(const void** table, const CUuuid*) {
  static std::atomic<bool> printed{false};
  *table = nullptr;
  const std::string library = LibraryAt(__builtin_return_address(0));
  for (const char* own : {"libcupti", "libnvrtc", "libnvJitLink"}) {
    if (library.starts_with(own)) return CUDA_ERROR_NOT_FOUND;
  }
  if (printed.exchange(true)) return CUDA_ERROR_NOT_FOUND;
  memoir::simcuda::PrintMessage(
      library +
      " is linked with its own CUDA runtime, which works only with a real driver; what it does "
      "on a GPU fails here with an error (a build that uses libcudart.so would run)");
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
