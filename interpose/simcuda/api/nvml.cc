// libnvidia-ml.so.1, as far as torch asks it: which process holds how much, and whether cards share a fabric. A library
// of its own, because torch looks for it by that name, and torch 2.15 calls what it did not find: a GPU always has one.
//
// libmemoir_simcuda.so loads it (management_library.h). It holds nothing: what it says is asked there. nvmlInit, which
// Python's programs call first, is left out on purpose: they go on to ask for much that is not here.
//
// NVML's header is in no wheel that torch needs, so its types stand here as its reference manual has them.
#include <dlfcn.h>
#include <unistd.h>

#include "interpose/simcuda/api/exported.h"
#include "interpose/simcuda/api/identity.h"

namespace {

enum Result { kSuccess = 0, kInvalidArgument = 2, kNotSupported = 3, kNotFound = 6, kInsufficientSize = 7 };

struct Process {
  unsigned id;
  unsigned long long used_bytes;
};

// nvmlDevice_t: opaque; the ordinal, from 1 on.
using DeviceHandle = void*;

struct ProcessInstance {
  unsigned id;
  unsigned long long used_bytes;
  unsigned gpu_instance, compute_instance;
};
constexpr unsigned kNoInstance = ~0u;
constexpr unsigned kOtherProcess = 1;

struct Memory {
  unsigned long long total, free, used;
};

// A function of libmemoir_simcuda.so; null where that is not preloaded.
template <typename Function>
Function* Simulated(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

// What that library says of the device.
unsigned long long Bytes(const char* function, DeviceHandle device) {
  auto* const ask = Simulated<unsigned long long(int)>(function);
  return ask == nullptr ? 0 : ask(static_cast<int>(reinterpret_cast<unsigned long>(device)) - 1);
}

}  // namespace

SIMULATED int nvmlInit_v2() { return kSuccess; }

SIMULATED int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, DeviceHandle* device) {
  int ordinal = 0;
  auto* const find = Simulated<int(int*, const char*)>("cudaDeviceGetByPCIBusId");
  if (bus == nullptr || device == nullptr) return kInvalidArgument;
  if (find == nullptr || find(&ordinal, bus) != 0) return kNotFound;
  *device = reinterpret_cast<DeviceHandle>(static_cast<unsigned long>(ordinal) + 1);
  return kSuccess;
}

SIMULATED int nvmlDeviceGetMemoryInfo(DeviceHandle device, Memory* memory) {
  if (device == nullptr || memory == nullptr) return kInvalidArgument;
  memory->total = Bytes("memoir_simulated_total", device);
  memory->used = Bytes("memoir_simulated_used", device) + Bytes("memoir_simulated_others", device);
  memory->free = memory->total - memory->used;
  return kSuccess;
}

// This process, and where others were said to hold memory (MEMOIR_SIM_OTHERS), one that stands for them.
SIMULATED int nvmlDeviceGetComputeRunningProcesses_v3(DeviceHandle device, unsigned* count,
                                                      ProcessInstance* processes) {
  if (device == nullptr || count == nullptr) return kInvalidArgument;
  const unsigned long long others = Bytes("memoir_simulated_others", device);
  const unsigned needed = others != 0 ? 2 : 1, room = *count;
  *count = needed;
  if (room < needed || processes == nullptr) return kInsufficientSize;
  processes[0] = {static_cast<unsigned>(getpid()), Bytes("memoir_simulated_used", device), kNoInstance, kNoInstance};
  if (others != 0) processes[1] = {kOtherProcess, others, kNoInstance, kNoInstance};
  return kSuccess;
}

// This process alone: each has the card to itself.
SIMULATED int nvmlDeviceGetComputeRunningProcesses(DeviceHandle device, unsigned* count, Process* processes) {
  auto* const used = Simulated<decltype(memoir_simulated_used)>("memoir_simulated_used");
  if (device == nullptr || count == nullptr) return kInvalidArgument;
  if (*count < 1 || processes == nullptr) {
    *count = 1;
    return kInsufficientSize;
  }
  *count = 1;
  const auto ordinal = static_cast<int>(reinterpret_cast<unsigned long>(device)) - 1;
  processes[0] = {static_cast<unsigned>(getpid()), used == nullptr ? 0 : used(ordinal)};
  return kSuccess;
}

// Says nothing, and so leaves the state that the caller begins with: no fabric.
SIMULATED int nvmlDeviceGetGpuFabricInfoV(DeviceHandle, void*) { return kSuccess; }

SIMULATED int nvmlDeviceGetNvLinkRemoteDeviceType(DeviceHandle, unsigned, void*) { return kNotSupported; }
SIMULATED int nvmlDeviceGetNvLinkRemotePciInfo_v2(DeviceHandle, unsigned, void*) { return kNotSupported; }

SIMULATED int nvmlSystemGetCudaDriverVersion_v2(int* version) {
  auto* const get = Simulated<int(int*)>("cudaDriverGetVersion");
  return get != nullptr && get(version) == 0 ? kSuccess : kNotFound;
}
