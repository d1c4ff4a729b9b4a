// A CUDA runtime whose launches call the driver's, which is in it: nothing runs.
#include <stddef.h>
#include <stdio.h>

struct Dimensions {
  unsigned x, y, z;
};

int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared, void* stream, void** parameters, void** extra);
int cudaLaunchKernel(const void* function, struct Dimensions grid, struct Dimensions block, void** parameters,
                     size_t shared, void* stream);
int cudaFuncGetName(const char** name, const void* function);
int cuCtxGetCurrent(void** context);
int cuCtxGetDevice(int* device);
int cudaMemcpyAsync(void* to, const void* from, size_t bytes, int kind, void* stream);
int cudaMemsetAsync(void* at, int value, size_t bytes, void* stream);
int cudaStreamSynchronize(void* stream);
int cudaStreamBeginCapture(void* stream, int mode);
int cudaStreamEndCapture(void* stream, void** graph);
int cudaGraphInstantiate(void** exec, void* graph, unsigned long long flags);
int cudaGraphLaunch(void* exec, void* stream);

int cuLaunchKernel(void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared, void* stream, void** parameters, void** extra) {
  (void)function, (void)grid_y, (void)grid_z, (void)block_x, (void)block_y, (void)block_z, (void)shared, (void)stream;
  (void)parameters, (void)extra;
  return grid_x == 0 ? 9 : 0;
}
int cudaLaunchKernel(const void* function, struct Dimensions grid, struct Dimensions block, void** parameters,
                     size_t shared, void* stream) {
  return cuLaunchKernel((void*)function, grid.x, grid.y, grid.z, block.x, block.y, block.z, (unsigned)shared, stream,
                        parameters, NULL);
}
// Device 1 is the one in use.
int cuCtxGetCurrent(void** context) {
  *context = (void*)0x300;
  return 0;
}
int cuCtxGetDevice(int* device) {
  *device = 1;
  return 0;
}
// Even addresses are kernels.
int cudaFuncGetName(const char** name, const void* function) {
  static char text[64];
  if ((size_t)function % 2 != 0) return 98;
  snprintf(text, sizeof text, "kernel_%zu", (size_t)function);
  *name = text;
  return 0;
}
int cudaMemcpyAsync(void* to, const void* from, size_t bytes, int kind, void* stream) {
  (void)to, (void)from, (void)kind, (void)stream;
  return bytes == 0 ? 1 : 0;
}
int cudaMemsetAsync(void* at, int value, size_t bytes, void* stream) {
  (void)at, (void)value, (void)bytes, (void)stream;
  return 0;
}
int cudaStreamSynchronize(void* stream) { return stream == NULL; }
int cudaStreamBeginCapture(void* stream, int mode) { return stream == NULL || mode < 0; }
int cudaStreamEndCapture(void* stream, void** graph) {
  *graph = (void*)0x100;
  return stream == NULL;
}
int cudaGraphInstantiate(void** exec, void* graph, unsigned long long flags) {
  *exec = (void*)0x200;
  return graph == NULL || flags != 0;
}
int cudaGraphLaunch(void* exec, void* stream) { return exec == NULL || stream == NULL; }
