// NVML of a GPU of which this process has a part (MIG): by its bus one gets the whole. It belongs to the process that
// began it: another one that asks it is ended. It may be told to answer nobody.
#include <stddef.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define MIB (1ull << 20)

struct memory {
  unsigned long long total, free, used;
};
struct process {
  unsigned id;
  unsigned long long used;
  unsigned gpu_instance, compute_instance;
};

static pid_t owner;
static volatile int silent;

void fake_management_is_silent(int is);
int nvmlInit_v2(void);
int nvmlDeviceGetCount_v2(unsigned* count);
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device);
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device);
int nvmlDeviceGetMemoryInfo(void* device, struct memory* memory);
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, struct process* processes);

static void belong(void) {
  if (owner != getpid()) _exit(99);
  while (silent) usleep(1000);
}

void fake_management_is_silent(int is) { silent = is; }

int nvmlInit_v2(void) {
  if (owner == 0) owner = getpid();
  belong();
  return 0;
}
int nvmlDeviceGetCount_v2(unsigned* count) {
  *count = 1;
  return owner == 0;
}
int nvmlDeviceGetHandleByPciBusId_v2(const char* bus, void** device) {
  belong();
  *device = (void*)1;
  return strcmp(bus, "0000:10:00.0") != 0;
}
int nvmlDeviceGetHandleByUUID(const char* uuid, void** device) {
  belong();
  *device = (void*)2;
  return strcmp(uuid, "MIG-00010203-0405-0607-0809-0a0b0c0d0e0f") != 0;
}
int nvmlDeviceGetMemoryInfo(void* device, struct memory* memory) {
  belong();
  memory->total = device == (void*)1 ? 8192 * MIB : 1040 * MIB;
  memory->free = device == (void*)1 ? 5000 * MIB : 900 * MIB;
  memory->used = memory->total - memory->free;
  return 0;
}
int nvmlDeviceGetComputeRunningProcesses_v3(void* device, unsigned* count, struct process* processes) {
  belong();
  *count = 1;
  processes[0] = (struct process){(unsigned)getpid(), device == (void*)1 ? 3000 * MIB : 140 * MIB, 0, 0};
  return 0;
}
