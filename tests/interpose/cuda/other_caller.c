// A library that is linked with other_runtime.c, or has that in it, and calls it through a lazy slot.
#include <stddef.h>

int cudaMalloc(void** pointer, size_t bytes);
int cudaFree(void* pointer) __attribute__((weak));
void* other_allocate(size_t bytes);
int other_can_free(void);

void* other_allocate(size_t bytes) {
  void* pointer = NULL;
  return cudaMalloc(&pointer, bytes) == 0 ? pointer : NULL;
}
int other_can_free(void) { return cudaFree != NULL; }
