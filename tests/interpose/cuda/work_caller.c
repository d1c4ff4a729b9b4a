// A library that launches kernels, copies and makes a graph, through its import slots.
#include <stddef.h>

struct Dimensions {
  unsigned x, y, z;
};

int cudaLaunchKernel(const void* function, struct Dimensions grid, struct Dimensions block, void** parameters,
                     size_t shared, void* stream);
int cudaMemcpyAsync(void* to, const void* from, size_t bytes, int kind, void* stream);
int cudaMemsetAsync(void* at, int value, size_t bytes, void* stream);
int cudaStreamSynchronize(void* stream);
int cudaStreamBeginCapture(void* stream, int mode);
int cudaStreamEndCapture(void* stream, void** graph);
int cudaGraphInstantiate(void** exec, void* graph, unsigned long long flags);
int cudaGraphLaunch(void* exec, void* stream);

int work_launch(size_t kernel, unsigned blocks, void* stream);
int work_copy(size_t bytes, void* stream);
int work_graph(void* stream, int replays);

int work_launch(size_t kernel, unsigned blocks, void* stream) {
  const struct Dimensions grid = {blocks, 2, 3}, block = {4, 5, 6};
  return cudaLaunchKernel((const void*)kernel, grid, block, NULL, 0, stream);
}
int work_copy(size_t bytes, void* stream) {
  char to[64], from[64];
  const int copied = cudaMemcpyAsync(to, from, bytes, 1, stream);
  return copied + cudaMemsetAsync(to, 0, bytes, stream) + cudaStreamSynchronize(stream);
}
int work_graph(void* stream, int replays) {
  void *graph, *exec;
  int failed = cudaStreamBeginCapture(stream, 0) + cudaStreamEndCapture(stream, &graph);
  failed += cudaGraphInstantiate(&exec, graph, 0);
  for (; replays > 0; --replays) failed += cudaGraphLaunch(exec, stream);
  return failed;
}
