// Another CUDA runtime: by the address of its blocks one knows that it was called.
#include <stddef.h>

int cudaMalloc(void** pointer, size_t bytes);

int cudaMalloc(void** pointer, size_t bytes) {
  (void)bytes;
  *pointer = (void*)OTHER_BLOCK;
  return 0;
}
