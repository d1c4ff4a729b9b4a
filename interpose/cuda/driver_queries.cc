#include "interpose/cuda/driver_queries.h"

#include <atomic>

#include "interpose/imports/import_slots.h"

namespace memoir {
namespace {

enum Function : std::size_t {
  kCtxGetCurrent,
  kCtxGetDevice,
  kGetDevice,
  kPrimaryState,
  kMemGetInfo,
  kDefaultPool,
  kPoolAttribute,
  kAddressRange,
  kBusId,
  kUuid,
  kTotal,
  kPointerAttribute,
  kHostFunctionName,
  kFunctionName,
  kKernelName,
  kFunctions,
};
constexpr const char* kNames[kFunctions] = {
    "cuCtxGetCurrent",       "cuCtxGetDevice",
    "cudaGetDevice",         "cuDevicePrimaryCtxGetState",
    "cuMemGetInfo_v2",       "cuDeviceGetDefaultMemPool",
    "cuMemPoolGetAttribute", "cuMemGetAddressRange_v2",
    "cuDeviceGetPCIBusId",   "cuDeviceGetUuid_v2",
    "cuDeviceTotalMem_v2",   "cuPointerGetAttribute",
    "cudaFuncGetName",       "cuFuncGetName",
    "cuKernelGetName",
};
constexpr int kDeviceOfPointer = 9;    // CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
constexpr int kReservedMemoryNow = 5;  // CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT

constinit std::atomic<const void*> functions[kFunctions]{};

// True once a query found a current context. Until then any code may close the driver's library, so each query first
// checks whether objects were unloaded. The owner of a context keeps the library loaded. So once in_use is true, only
// FindCudaFunctions checks for unloaded objects.
constinit std::atomic<bool> in_use{false};
constinit std::atomic<bool> finding{false};                   // a thread runs FindCudaFunctions
constinit std::atomic<std::uint64_t> unloaded_before{~0ull};  // count of unloaded objects when the functions were found

// Looks up the functions again if any object was unloaded. False if their addresses may still be out of date.
bool AreCurrent() {
  if (in_use.load(std::memory_order_acquire)) return true;
  if (CountLoads().unloaded != unloaded_before.load(std::memory_order_acquire)) FindCudaFunctions();
  return CountLoads().unloaded == unloaded_before.load(std::memory_order_acquire);
}

// Calls the function. False if no library defines it, or if it returns an error.
template <class... A>
bool Get(Function function, A... arguments) {
  if (!AreCurrent()) return false;
  const void* found = functions[function].load(std::memory_order_acquire);
  if (found == nullptr) return false;
  return reinterpret_cast<int (*)(A...)>(const_cast<void*>(found))(arguments...) == 0;
}

}  // namespace

// While this runs, other threads can still use the functions whose addresses have not changed.
void FindCudaFunctions() {
  if (finding.exchange(true, std::memory_order_acq_rel)) return;
  const std::uint64_t unloaded = CountLoads().unloaded;
  const bool anew = unloaded_before.load(std::memory_order_relaxed) != unloaded;
  for (std::size_t i = 0; i < kFunctions; ++i) {
    const void* known = functions[i].load(std::memory_order_relaxed);
    if (known != nullptr && !anew) continue;
    const void* found = FindDefinition(kNames[i]);
    if (known != nullptr && known != found) in_use.store(false, std::memory_order_release);
    functions[i].store(found, std::memory_order_release);
  }
  unloaded_before.store(unloaded, std::memory_order_release);
  finding.store(false, std::memory_order_release);
}

void ForgetCudaFunctions() {
  in_use.store(false, std::memory_order_relaxed);
  unloaded_before.store(~0ull, std::memory_order_relaxed);
  finding.store(false, std::memory_order_release);
}

std::uint64_t CurrentContext() {
  void* context = nullptr;
  if (!Get(kCtxGetCurrent, &context) || context == nullptr) return 0;
  if (!in_use.load(std::memory_order_relaxed)) in_use.store(true, std::memory_order_release);
  return reinterpret_cast<std::uintptr_t>(context);
}

bool HasSeenContext() { return in_use.load(std::memory_order_acquire); }

int DeviceOfContext() {
  int device = -1;
  if (CurrentContext() == 0 || !Get(kCtxGetDevice, &device)) return -1;
  return device >= 0 && device < kMaxCudaDevices ? device : -1;
}

int DeviceOfRuntime() {
  int device = -1;
  if (!Get(kGetDevice, &device)) return -1;
  return device >= 0 && device < kMaxCudaDevices ? device : -1;
}

int HasContext(int device) {
  unsigned flags = 0;
  int active = 0;
  return Get(kPrimaryState, device, &flags, &active) ? active != 0 : -1;
}

bool ReadFreeBytes(std::uint64_t* free, std::uint64_t* total) { return Get(kMemGetInfo, free, total); }

bool ReadPoolBytes(int device, std::uint64_t* bytes) {
  void* pool = nullptr;
  return Get(kDefaultPool, &pool, device) && Get(kPoolAttribute, pool, kReservedMemoryNow, bytes);
}

bool ReadBlockDevice(std::uint64_t address, int* device) {
  int found = -1;
  if (!Get(kPointerAttribute, static_cast<void*>(&found), kDeviceOfPointer, address)) return false;
  if (found < 0 || found >= kMaxCudaDevices) return false;
  *device = found;
  return true;
}

bool ReadBlockBytes(std::uint64_t address, std::uint64_t* bytes) {
  std::uint64_t base = 0;
  return Get(kAddressRange, &base, bytes, address);
}

bool ReadBusId(int device, char* text, std::size_t bytes) { return Get(kBusId, text, static_cast<int>(bytes), device); }

bool ReadUuid(int device, unsigned char* uuid) { return Get(kUuid, uuid, device); }

bool ReadHostFunctionName(const void* function, const char** name) { return Get(kHostFunctionName, name, function); }

bool ReadKernelName(const void* kernel, const char** name) { return Get(kKernelName, name, kernel); }

// CUDA accepts a CUkernel where it expects a CUfunction.
bool ReadFunctionName(const void* function, const char** name) {
  return Get(kFunctionName, name, function) || Get(kKernelName, name, function);
}

bool ReadTotalBytes(int device, std::uint64_t* bytes) { return Get(kTotal, bytes, device); }

}  // namespace memoir
