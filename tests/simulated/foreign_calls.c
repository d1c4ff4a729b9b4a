/* A library that is not torch's and takes memory in every way that there is: what a recording names is this file's library. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define MIB ((size_t)1 << 20)

int cudaMalloc(void**, size_t);
int cudaMallocAsync(void**, size_t, void*);
int cudaFree(void*);
int cudaFreeAsync(void*, void*);
int cudaHostAlloc(void**, size_t, unsigned);
int cudaFreeHost(void*);
int cudaHostRegister(void*, size_t, unsigned);
int cudaHostUnregister(void*);
struct ipc_handle {
  char bytes[64];
};
int cudaIpcOpenMemHandle(void**, struct ipc_handle, unsigned);
int cudaIpcCloseMemHandle(void*);
int cuMemAddressReserve(uint64_t*, size_t, size_t, uint64_t, unsigned long long);
int cuMemAddressFree(uint64_t, size_t);
int cuMemCreate(uint64_t*, size_t, const void*, unsigned long long);
int cuMemRelease(uint64_t);
int cuMemMap(uint64_t, size_t, size_t, uint64_t, unsigned long long);
int cuMemUnmap(uint64_t, size_t);

typedef int (*allocate)(uint64_t*, size_t);
typedef int (*release)(uint64_t);
typedef int (*look_up)(const char*, void**, int, uint64_t, int*);

/* The results are volatile: a call that is the last thing done would be a jump, which leaves no trace of this library. */
int raw(size_t bytes) {
  void* block = NULL;
  volatile int result = cudaMalloc(&block, bytes);
  return result == 0 ? cudaFree(block) * 1000 : result;
}
int by_name(void) {
  void* driver = dlopen("libcuda.so.1", RTLD_LAZY);
  const allocate take = (allocate)dlsym(driver, "cuMemAlloc_v2");
  const release give = (release)dlsym(driver, "cuMemFree_v2");
  uint64_t block = 0;
  volatile int result = take(&block, 5 * MIB);
  return result == 0 ? give(block) * 1000 : result;
}
int by_entry_point(void) {
  const look_up find = (look_up)dlsym(dlopen("libcuda.so.1", RTLD_LAZY), "cuGetProcAddress_v2");
  void *take = NULL, *give = NULL;
  uint64_t block = 0;
  if (find("cuMemAlloc", &take, 12000, 0, NULL) != 0 || find("cuMemFree", &give, 12000, 0, NULL) != 0) return -1;
  volatile int result = ((allocate)take)(&block, 7 * MIB);
  return result == 0 ? ((release)give)(block) * 1000 : result;
}
int pinned(size_t bytes) {
  void* block = NULL;
  volatile int result = cudaHostAlloc(&block, bytes, 0);
  return result == 0 ? cudaFreeHost(block) * 1000 : result;
}
int registered(size_t bytes) {
  void* block = malloc(bytes);
  volatile int result = cudaHostRegister(block, bytes, 0);
  if (result == 0) result = cudaHostUnregister(block) * 1000;
  free(block);
  return result;
}
int stream_ordered(void) {
  void* block = NULL;
  volatile int result = cudaMallocAsync(&block, 9 * MIB, NULL);
  return result == 0 ? cudaFreeAsync(block, NULL) * 1000 : result;
}
/* Released while it is mapped: it lives until it is unmapped. */
int physical(void) {
  const int on_device_0[8] = {1, 0, 1, 0};
  uint64_t handle = 0, address = 0;
  volatile int result = cuMemCreate(&handle, 4 * MIB, on_device_0, 0);
  if (result == 0) result = cuMemAddressReserve(&address, 4 * MIB, 0, 0, 0);
  if (result == 0) result = cuMemMap(address, 4 * MIB, 0, handle, 0);
  if (result == 0) result = cuMemRelease(handle);
  if (result == 0) result = raw(MIB);
  if (result == 0) result = cuMemUnmap(address, 4 * MIB);
  return result == 0 ? cuMemAddressFree(address, 4 * MIB) : result;
}
/* A handle of the simulated device's own making, as if process 1 had exported a block of 11 MiB. */
int opened(void) {
  const struct {
    uint64_t address, bytes;
    int process, device;
  } exported = {0x700000000000, 11 * MIB, 1, 0};
  struct ipc_handle handle = {{0}};
  void* block = NULL;
  memcpy(handle.bytes, &exported, sizeof exported);
  volatile int result = cudaIpcOpenMemHandle(&block, handle, 1);
  return result == 0 ? cudaIpcCloseMemHandle(block) * 1000 : result;
}
