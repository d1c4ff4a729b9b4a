// A CUDA driver of a few functions: memory is counted, nothing else. Its runtime is fake_runtime.c.
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define TOTAL ((size_t)1 << 30)

static size_t used;
static uint64_t next_address = 0x7f0000000000;
static struct {
  uint64_t address;
  size_t bytes;
} blocks[64];

int cuCtxGetCurrent(void** context);
int cuCtxGetDevice(int* device);
int cuMemGetInfo_v2(size_t* left, size_t* total);
int cuMemAlloc_v2(uint64_t* address, size_t bytes);
int cuMemFree_v2(uint64_t address);
int cuMemCreate(uint64_t* handle, size_t bytes, const int* properties, unsigned long long flags);
int cuMemRelease(uint64_t handle);
int cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle, unsigned long long flags);
int cuMemUnmap(uint64_t address, size_t bytes);
int cuMemRetainAllocationHandle(uint64_t* handle, void* address);
struct shared {
  char bytes[64];
};
struct shape {
  size_t width, height;
  int format;
  unsigned channels;
};
int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active);
int cuDevicePrimaryCtxReset_v2(int device);
int cuDevicePrimaryCtxRelease_v2(int device);
int cuCtxCreate_v2(void** context, unsigned flags, int device);
int cuCtxDestroy_v2(void* context);
int cuMemHostAlloc(void** address, size_t bytes, unsigned flags);
int cuMemAllocAsync(uint64_t* address, size_t bytes, void* stream);
int cuPointerGetAttribute(void* value, int attribute, uint64_t address);
int cuIpcOpenMemHandle_v2(uint64_t* address, struct shared handle, unsigned flags);
int cuIpcCloseMemHandle(uint64_t address);
int cuMemGetAddressRange_v2(uint64_t* base, size_t* bytes, uint64_t address);
int cuArrayCreate_v2(void** array, const struct shape* shape);
int cuArrayDestroy(void* array);
int cuDeviceGetPCIBusId(char* text, int length, int device);
int cuDeviceGetUuid_v2(unsigned char* uuid, int device);
int cuDeviceTotalMem_v2(size_t* bytes, int device);
int cuCtxSynchronize(void);
int cuCtxSynchronize_v2(void* context);
int cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags, int* status);

static int holders = 2;        // of the primary context
static void* current = &used;  // it, or another one
static int other;

int cuCtxGetCurrent(void** context) {
  *context = current;
  return 0;
}
int cuCtxGetDevice(int* device) {
  *device = 3;
  return 0;
}
int cuMemGetInfo_v2(size_t* left, size_t* total) {
  *left = TOTAL - used;
  *total = TOTAL;
  return 0;
}
int cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  *flags = 0;
  *active = device == 3 && holders > 0;
  return 0;
}
int cuDevicePrimaryCtxReset_v2(int device) { return device != 3; }
int cuDevicePrimaryCtxRelease_v2(int device) {
  if (device != 3 || holders == 0) return 1;
  --holders;
  return 0;
}
int cuCtxCreate_v2(void** context, unsigned flags, int device) {
  (void)flags;
  *context = current = &other;
  return device != 3;
}
int cuCtxDestroy_v2(void* context) {
  current = &used;
  return context != &other;
}
int cuMemHostAlloc(void** address, size_t bytes, unsigned flags) {
  (void)bytes, (void)flags;
  *address = (void*)0x600000000000;
  return 0;
}
// Of a pool on another device than the current one.
int cuMemAllocAsync(uint64_t* address, size_t bytes, void* stream) {
  (void)bytes, (void)stream;
  *address = 0x610000000000;
  return 0;
}
int cuPointerGetAttribute(void* value, int attribute, uint64_t address) {
  *(int*)value = address == 0x610000000000 ? 1 : 3;
  return attribute != 9;
}
int cuIpcOpenMemHandle_v2(uint64_t* address, struct shared handle, unsigned flags) {
  (void)handle, (void)flags;
  *address = 0x620000000000;
  return 0;
}
int cuIpcCloseMemHandle(uint64_t address) { return address != 0x620000000000; }
int cuMemGetAddressRange_v2(uint64_t* base, size_t* bytes, uint64_t address) {
  *base = address;
  *bytes = (size_t)5 << 20;
  return 0;
}
int cuArrayCreate_v2(void** array, const struct shape* shape) {
  *array = (void*)0x630000000000;
  return shape->width == 0;
}
int cuArrayDestroy(void* array) { return array != (void*)0x630000000000; }
int cuDeviceGetPCIBusId(char* text, int length, int device) {
  strncpy(text, "0000:10:00.0", (size_t)length);
  return device != 3;
}
int cuDeviceGetUuid_v2(unsigned char* uuid, int device) {
  for (unsigned char i = 0; i < 16; ++i) uuid[i] = i;
  return device != 3;
}
int cuDeviceTotalMem_v2(size_t* bytes, int device) {
  *bytes = TOTAL;
  return device != 3;
}
int cuMemAlloc_v2(uint64_t* address, size_t bytes) {
  errno = EDOM;
  if (bytes > TOTAL - used) return 2;
  for (size_t i = 0; i < 64; ++i) {
    if (blocks[i].address != 0) continue;
    used += bytes;
    *address = blocks[i].address = next_address;
    blocks[i].bytes = bytes;
    next_address += 4096;
    return 0;
  }
  return 1;
}
int cuMemFree_v2(uint64_t address) {
  for (size_t i = 0; i < 64; ++i) {
    if (address == 0 || blocks[i].address != address) continue;
    used -= blocks[i].bytes;
    blocks[i].address = 0;
    return 0;
  }
  return 1;
}

// Every physical memory has the same handle: the number is used again as soon as it was released.
int cuMemCreate(uint64_t* handle, size_t bytes, const int* properties, unsigned long long flags) {
  (void)bytes, (void)properties, (void)flags;
  *handle = 77;
  return 0;
}
int cuMemRelease(uint64_t handle) { return handle != 77; }
int cuMemMap(uint64_t address, size_t bytes, size_t offset, uint64_t handle, unsigned long long flags) {
  (void)address, (void)bytes, (void)offset, (void)flags;
  return handle != 77;
}
int cuMemUnmap(uint64_t address, size_t bytes) {
  (void)address, (void)bytes;
  return 0;
}
int cuMemRetainAllocationHandle(uint64_t* handle, void* address) {
  (void)address;
  *handle = 77;
  return 0;
}

int cuCtxSynchronize(void) { return 5; }
int cuCtxSynchronize_v2(void* context) { return context == (void*)0x300 ? 6 : 709; }

int cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t flags, int* status) {
  (void)flags, (void)status;
  *function = strcmp(name, "cuMemAlloc") == 0         ? (void*)cuMemAlloc_v2
              : strcmp(name, "cuMemFree") == 0        ? (void*)cuMemFree_v2
              : strcmp(name, "cuCtxSynchronize") != 0 ? NULL
              : version >= 13000                      ? (void*)cuCtxSynchronize_v2
                                                      : (void*)cuCtxSynchronize;
  return *function == NULL;
}
