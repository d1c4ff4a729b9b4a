// A CUDA runtime on top of fake_driver.c: its calls call the driver's.
#include <stddef.h>
#include <stdint.h>

int cuMemAlloc_v2(uint64_t* address, size_t bytes);
int cuMemFree_v2(uint64_t address);
int cudaMalloc(void** pointer, size_t bytes);
int cudaFree(void* pointer);

int cudaMalloc(void** pointer, size_t bytes) { return cuMemAlloc_v2((uint64_t*)pointer, bytes); }
int cudaFree(void* pointer) { return cuMemFree_v2((uint64_t)pointer); }
