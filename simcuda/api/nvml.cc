// A simulated libnvidia-ml.so.1, with the functions that torch and programs that watch a GPU use: the cards, their
// memory, and the processes that use the memory. nvml_sensors.cc has the rest. This library is separate from
// libmemoir_simcuda.so, because programs open it by its name. torch 2.15 calls this library's functions without
// checking that they exist, because every machine with a GPU has the library.
//
// libmemoir_simcuda.so loads this library (management_library.h) and provides all its figures.
//
// nvmlInit is missing on purpose. If nvmlInit existed, torch would count devices by NVML and expect
// CUDA_VISIBLE_DEVICES to hide cards. Here the variable hides no cards (visible_devices.h). Without nvmlInit torch
// counts devices by CUDA. Python programs call nvmlInitWithFlags.
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "simcuda/api/exported.h"
#include "simcuda/api/nvml_device.h"

namespace {

namespace nvml = memoir::simcuda::nvml;
using nvml::DeviceHandle;
using nvml::FindSimulated;

struct Process {
  unsigned id;
  unsigned long long used_bytes;
};

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

struct MemoryWithReserved {
  unsigned version;
  unsigned long long total, reserved, free, used;
};

struct PciInfo {
  char legacy_bus_id[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char bus_id[32];
};
constexpr unsigned kNvidia = 0x10de;

// The process that last called nvmlInit_v2 or nvmlInitWithFlags. A forked child must call one of them again.
constinit std::atomic<pid_t> initialized_by{0};

int Devices() {
  int count = 0;
  auto* const get = FindSimulated<int(int*)>("cudaGetDeviceCount");
  return get != nullptr && get(&count) == 0 ? count : 0;
}

int PhysicalOf(int ordinal) {
  auto* const get = FindSimulated<int(int)>("memoir_simulated_card");
  return get == nullptr ? ordinal : get(ordinal);
}

// "GPU-5c5c5c5c-5c5c-5c5c-5c5c-5c5c5c5c5c00"
struct Uuid {
  char text[64] = "";
};

Uuid UuidOf(DeviceHandle device) {
  Uuid result;
  unsigned char u[16] = {};
  auto* const get = FindSimulated<int(void*, int)>("cuDeviceGetUuid_v2");
  if (get == nullptr || get(u, nvml::OrdinalOf(device)) != 0) return result;
  std::snprintf(result.text, sizeof result.text,
                "GPU-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0], u[1], u[2], u[3],
                u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
  return result;
}

// Memory that belongs to other processes (MEMOIR_SIM_OTHERS).
unsigned long long OthersOf(DeviceHandle device) {
  return nvml::Bytes("memoir_simulated_others", device) - nvml::Bytes("memoir_simulated_unowned", device);
}

}  // namespace

SIMULATED int nvmlInit_v2() {
  initialized_by = getpid();
  return nvml::kSuccess;
}

SIMULATED int nvmlInitWithFlags(unsigned) { return Devices() > 0 ? nvmlInit_v2() : nvml::kDriverNotLoaded; }

SIMULATED int nvmlShutdown() { return nvml::kSuccess; }

SIMULATED int nvmlDeviceGetCount_v2(unsigned* count) {
  if (count == nullptr) return nvml::kInvalidArgument;
  if (initialized_by != getpid()) return nvml::kUninitialized;
  *count = static_cast<unsigned>(Devices());
  return nvml::kSuccess;
}

// `index` is the card's number in CUDA_VISIBLE_DEVICES. If the variable does not contain it, `index` is the device's
// number.
SIMULATED int nvmlDeviceGetHandleByIndex_v2(unsigned index, DeviceHandle* device) {
  const int devices = Devices();
  if (device == nullptr) return nvml::kInvalidArgument;
  for (int ordinal = 0; ordinal < devices; ++ordinal) {
    if (PhysicalOf(ordinal) != static_cast<int>(index)) continue;
    *device = nvml::HandleOf(ordinal);
    return nvml::kSuccess;
  }
  if (index >= static_cast<unsigned>(devices)) return nvml::kInvalidArgument;
  *device = nvml::HandleOf(static_cast<int>(index));
  return nvml::kSuccess;
}

SIMULATED int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, DeviceHandle* device) {
  int ordinal = 0;
  auto* const find = FindSimulated<int(int*, const char*)>("cudaDeviceGetByPCIBusId");
  if (bus == nullptr || device == nullptr) return nvml::kInvalidArgument;
  if (find == nullptr || find(&ordinal, bus) != 0) return nvml::kNotFound;
  *device = nvml::HandleOf(ordinal);
  return nvml::kSuccess;
}

SIMULATED int nvmlDeviceGetHandleByUUID(const char* uuid, DeviceHandle* device) {
  if (uuid == nullptr || device == nullptr) return nvml::kInvalidArgument;
  for (int ordinal = 0; ordinal < Devices(); ++ordinal) {
    if (std::strcmp(UuidOf(nvml::HandleOf(ordinal)).text, uuid) != 0) continue;
    *device = nvml::HandleOf(ordinal);
    return nvml::kSuccess;
  }
  return nvml::kNotFound;
}

SIMULATED int nvmlDeviceGetIndex(DeviceHandle device, unsigned* index) {
  if (device == nullptr || index == nullptr) return nvml::kInvalidArgument;
  *index = static_cast<unsigned>(PhysicalOf(nvml::OrdinalOf(device)));
  return nvml::kSuccess;
}

SIMULATED int nvmlDeviceGetMinorNumber(DeviceHandle device, unsigned* number) {
  return nvmlDeviceGetIndex(device, number);
}

SIMULATED int nvmlDeviceGetName(DeviceHandle device, char* name, unsigned length) {
  auto* const get = FindSimulated<int(char*, int, int)>("cuDeviceGetName");
  if (device == nullptr || name == nullptr || get == nullptr) return nvml::kInvalidArgument;
  return get(name, static_cast<int>(length), nvml::OrdinalOf(device)) == 0 ? nvml::kSuccess : nvml::kInvalidArgument;
}

SIMULATED int nvmlDeviceGetUUID(DeviceHandle device, char* uuid, unsigned length) {
  return device == nullptr ? nvml::kInvalidArgument : nvml::WriteText(UuidOf(device).text, uuid, length);
}

SIMULATED int nvmlDeviceGetPciInfo_v3(DeviceHandle device, PciInfo* info) {
  auto* const get = FindSimulated<int(char*, int, int)>("cuDeviceGetPCIBusId");
  if (device == nullptr || info == nullptr || get == nullptr) return nvml::kInvalidArgument;
  *info = {};
  info->device_id = info->subsystem_id = kNvidia;
  if (get(info->legacy_bus_id, sizeof info->legacy_bus_id, nvml::OrdinalOf(device)) != 0) return nvml::kInvalidArgument;
  std::snprintf(info->bus_id, sizeof info->bus_id, "0000%s", info->legacy_bus_id);
  constexpr std::size_t kBus = 5;  // "0000:10:00.0", hexadecimal; domain and device are 0
  info->bus = static_cast<unsigned>(std::strtoul(info->legacy_bus_id + kBus, nullptr, 16));
  return nvml::kSuccess;
}

SIMULATED int nvmlDeviceGetMemoryInfo(DeviceHandle device, Memory* memory) {
  if (device == nullptr || memory == nullptr) return nvml::kInvalidArgument;
  memory->total = nvml::Bytes("memoir_simulated_total", device);
  memory->used = nvml::Bytes("memoir_simulated_used", device) + nvml::Bytes("memoir_simulated_others", device);
  memory->free = memory->total - memory->used;
  return nvml::kSuccess;
}

SIMULATED int nvmlDeviceGetMemoryInfo_v2(DeviceHandle device, MemoryWithReserved* memory) {
  Memory all{};
  if (memory == nullptr || nvmlDeviceGetMemoryInfo(device, &all) != nvml::kSuccess) return nvml::kInvalidArgument;
  memory->total = all.total;
  memory->free = all.free;
  memory->reserved = nvml::Bytes("memoir_simulated_unowned", device);
  memory->used = all.used - memory->reserved;
  return nvml::kSuccess;
}

// Lists this process. If MEMOIR_SIM_OTHERS is set, also lists one process that represents all others.
SIMULATED int nvmlDeviceGetComputeRunningProcesses_v3(DeviceHandle device, unsigned* count,
                                                      ProcessInstance* processes) {
  if (device == nullptr || count == nullptr) return nvml::kInvalidArgument;
  const unsigned long long others = OthersOf(device);
  const unsigned needed = others != 0 ? 2 : 1, room = *count;
  *count = needed;
  if (room < needed || processes == nullptr) return nvml::kInsufficientSize;
  processes[0] = {static_cast<unsigned>(getpid()), nvml::Bytes("memoir_simulated_used", device), kNoInstance,
                  kNoInstance};
  if (others != 0) processes[1] = {kOtherProcess, others, kNoInstance, kNoInstance};
  return nvml::kSuccess;
}

SIMULATED int nvmlDeviceGetComputeRunningProcesses_v2(DeviceHandle device, unsigned* count,
                                                      ProcessInstance* processes) {
  return nvmlDeviceGetComputeRunningProcesses_v3(device, count, processes);
}

SIMULATED int nvmlDeviceGetComputeRunningProcesses(DeviceHandle device, unsigned* count, Process* processes) {
  if (device == nullptr || count == nullptr) return nvml::kInvalidArgument;
  ProcessInstance instances[2];
  unsigned room = *count < 2 ? *count : 2;
  const int result = nvmlDeviceGetComputeRunningProcesses_v3(device, &room, processes == nullptr ? nullptr : instances);
  *count = room;
  if (result != nvml::kSuccess) return result;
  for (unsigned i = 0; i < room; ++i) processes[i] = {instances[i].id, instances[i].used_bytes};
  return nvml::kSuccess;
}

// No process uses a simulated card for graphics, so the list is empty.
SIMULATED int nvmlDeviceGetGraphicsRunningProcesses_v3(DeviceHandle device, unsigned* count, ProcessInstance*) {
  if (device == nullptr || count == nullptr) return nvml::kInvalidArgument;
  *count = 0;
  return nvml::kSuccess;
}

SIMULATED int nvmlDeviceGetGraphicsRunningProcesses_v2(DeviceHandle device, unsigned* count,
                                                       ProcessInstance* processes) {
  return nvmlDeviceGetGraphicsRunningProcesses_v3(device, count, processes);
}

SIMULATED int nvmlSystemGetProcessName(unsigned process, char* name, unsigned length) {
  char path[64], text[1024] = "";
  std::snprintf(path, sizeof path, "/proc/%u/cmdline", process);
  std::FILE* const file = std::fopen(path, "re");
  if (file == nullptr) return nvml::kNotFound;
  const std::size_t got = std::fread(text, 1, sizeof text - 1, file);
  std::fclose(file);
  return got == 0 ? nvml::kNotFound : nvml::WriteText(text, name, length);
}
