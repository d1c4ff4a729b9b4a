#include "interpose/cuda/nvml_queries.h"

#include <dlfcn.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <ctime>

#include "interpose/cuda/driver_queries.h"

namespace memoir {
namespace {

// NVML's types, from its reference manual.
struct Memory {
  unsigned long long total, free, used;
};
struct Process {
  unsigned id;
  unsigned long long used_bytes;  // ~0: not available
  unsigned gpu_instance, compute_instance;
};
using Handle = void*;
constexpr unsigned kMostProcesses = 256;

using Open = void* (*)(const char*, int);
using Find = void* (*)(void*, const char*);
constinit Open open_library = nullptr;
constinit Find find_function = nullptr;

struct Library {
  int (*init)();
  int (*count)(unsigned*);
  int (*handle)(const char*, Handle*);
  int (*handle_by_uuid)(const char*, Handle*);
  int (*memory)(Handle, Memory*);
  int (*processes)(Handle, unsigned*, Process*);
};
constinit Library library{};
constinit std::atomic<bool> is_loaded{false};

// State of the initialization of NVML in this process.
enum class Start : std::uint8_t { kNone, kUnderway, kReady, kFailed };
constinit std::atomic<Start> start{Start::kNone};
constinit std::atomic<pid_t> started_by{0};  // the process that initializes NVML; 0: none yet
constinit pid_t first_process = 0;           // the process that loaded this library
__attribute__((constructor)) void NoteProcess() { first_process = getpid(); }

// The properties by which NVML identifies a device, and NVML's handle of the device.
struct Identity {
  std::atomic<bool> is_known;
  char bus[32];
  unsigned char uuid[16];
  std::uint64_t total;              // 0: not known
  std::atomic<bool> is_looked_for;  // `handle` has been looked up
  std::atomic<Handle> handle;       // nullptr if NVML does not list the device
};
constinit Identity identities[kMaxCudaDevices]{};

template <class Function>
void Get(void* from, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(find_function(from, name));
}

// Returns true if NVML is initialized for this process. In a forked child, an ancestor may have initialized NVML. In
// this case NVML's state belongs to the ancestor, so Memoir does not use NVML.
bool InitializeNvml() {
  unsigned count = 0;
  const bool is_child = getpid() != first_process;
  if (is_child && library.count != nullptr && library.count(&count) == 0) return false;
  return library.init() == 0;
}

// Initializes NVML at the first call, which usually comes from a thread that creates the process's first context. If
// another thread is initializing NVML, waits at most two seconds.
bool IsReady() {
  if (!is_loaded.load(std::memory_order_acquire)) return false;
  const pid_t own = getpid();
  pid_t by = 0;
  if (started_by.compare_exchange_strong(by, own, std::memory_order_acq_rel)) {
    start.store(InitializeNvml() ? Start::kReady : Start::kFailed, std::memory_order_release);
  } else if (by != own) {
    return false;  // an ancestor initialized NVML
  }
  constexpr timespec kPause{.tv_sec = 0, .tv_nsec = 1'000'000};
  constexpr int kMostPauses = 2000;
  for (int i = 0; i < kMostPauses && start.load(std::memory_order_acquire) < Start::kReady; ++i)
    nanosleep(&kPause, nullptr);
  return start.load(std::memory_order_acquire) == Start::kReady;
}

// Returns false if the handle's total memory is clearly larger than the device's. A MIG instance (a slice of a GPU) has
// the bus id of the whole GPU, whose memory is larger. For the same device, NVML's total is only a little larger than
// CUDA's, because CUDA's total excludes memory that the driver keeps.
bool Fits(Handle handle, const Identity& identity) {
  Memory memory{};
  if (library.memory == nullptr || library.memory(handle, &memory) != 0) return false;
  return identity.total == 0 || memory.total - memory.total / 8 <= identity.total;
}

Handle LookFor(const Identity& identity) {
  Handle handle = nullptr;
  if (library.handle(identity.bus, &handle) == 0 && Fits(handle, identity)) return handle;
  const unsigned char* u = identity.uuid;
  char name[64];
  std::snprintf(name, sizeof name, "MIG-%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x", u[0],
                u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9], u[10], u[11], u[12], u[13], u[14], u[15]);
  const bool found = library.handle_by_uuid != nullptr && library.handle_by_uuid(name, &handle) == 0;
  return found && Fits(handle, identity) ? handle : nullptr;
}

// Returns the device's NVML handle. nullptr if NVML does not list the device; figures of another device, or of the
// whole GPU for a MIG instance, are never used instead.
Handle HandleOf(int device) {
  if (device < 0 || device >= kMaxCudaDevices) return nullptr;
  Identity& identity = identities[device];
  if (!identity.is_known.load(std::memory_order_acquire) || !IsReady()) return nullptr;
  if (!identity.is_looked_for.load(std::memory_order_acquire)) {
    identity.handle.store(LookFor(identity), std::memory_order_release);
    identity.is_looked_for.store(true, std::memory_order_release);
  }
  return identity.handle.load(std::memory_order_acquire);
}

bool ReadMemory(int device, Memory* memory) {
  Handle handle = HandleOf(device);
  return handle != nullptr && library.memory != nullptr && library.memory(handle, memory) == 0;
}

}  // namespace

void SetLoader(Open open, Find find) {
  open_library = open;
  find_function = find;
}

void LoadNvml() {
  if (HasNvml() || open_library == nullptr || find_function == nullptr) return;
  void* opened = open_library("libnvidia-ml.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (opened == nullptr) return;
  Get(opened, "nvmlInit_v2", &library.init);
  Get(opened, "nvmlDeviceGetCount_v2", &library.count);
  Get(opened, "nvmlDeviceGetHandleByPciBusId_v2", &library.handle);
  Get(opened, "nvmlDeviceGetHandleByUUID", &library.handle_by_uuid);
  Get(opened, "nvmlDeviceGetMemoryInfo", &library.memory);
  Get(opened, "nvmlDeviceGetComputeRunningProcesses_v3", &library.processes);
  if (library.init != nullptr && library.handle != nullptr) is_loaded.store(true, std::memory_order_release);
}

bool HasNvml() { return is_loaded.load(std::memory_order_acquire); }

void IdentifyDevice(int device) {
  if (!HasNvml() || device < 0 || device >= kMaxCudaDevices) return;
  Identity& identity = identities[device];
  Identity found{};
  if (identity.is_known.load(std::memory_order_acquire) || !ReadBusId(device, found.bus, sizeof found.bus)) return;
  ReadUuid(device, found.uuid);
  ReadTotalBytes(device, &found.total);
  // Other threads may write the same value at the same time.
  std::memcpy(identity.bus, found.bus, sizeof found.bus);
  std::memcpy(identity.uuid, found.uuid, sizeof found.uuid);
  identity.total = found.total;
  identity.is_known.store(true, std::memory_order_release);
}

bool ReadNvmlFree(int device, std::uint64_t* free) {
  Memory memory{};
  if (!ReadMemory(device, &memory)) return false;
  *free = memory.free;
  return true;
}

void ReadNvmlMemory(int device, DeviceSample* numbers) {
  Memory memory{};
  if (numbers->free_bytes == kNotKnown && ReadMemory(device, &memory)) numbers->free_bytes = memory.free;
  Handle handle = HandleOf(device);
  if (handle == nullptr || library.processes == nullptr) return;
  Process processes[kMostProcesses];
  unsigned count = kMostProcesses;
  if (library.processes(handle, &count, processes) != 0 || count > kMostProcesses) return;
  std::uint64_t own = 0, others = 0;
  bool listed = false;
  for (unsigned i = 0; i < count; ++i) {
    if (processes[i].used_bytes == ~0ull) return;
    const bool is_own = processes[i].id == static_cast<unsigned>(getpid());
    listed = listed || is_own;
    (is_own ? own : others) += processes[i].used_bytes;
  }
  if (!listed) return;
  numbers->process_bytes = own;
  numbers->other_processes_bytes = others;
}

}  // namespace memoir
