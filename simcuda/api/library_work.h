// Queues the work of a call of cuBLAS, cuDNN or a similar library: one piece of work on the stream of the library's
// handle, like a kernel launch.
//
// A handle of these libraries begins with its stream: In<cudaStream_t>(handle), see handles.h. Any thread.
#ifndef SIMCUDA_API_LIBRARY_WORK_H_
#define SIMCUDA_API_LIBRARY_WORK_H_

#include <cuda_runtime_api.h>

#include "simcuda/process/handles.h"

namespace memoir::simcuda {

// Queues one piece of work on `stream`; if the stream is being captured, adds a node to the capture instead.
void QueueWorkOn(cudaStream_t stream);

template <typename H>
void SetStreamOf(H handle, cudaStream_t stream) {
  if (handle != nullptr) In<cudaStream_t>(handle) = stream;
}

template <typename H>
void QueueWorkOf(H handle) {
  if (handle != nullptr) QueueWorkOn(In<cudaStream_t>(handle));
}

}  // namespace memoir::simcuda

#endif  // SIMCUDA_API_LIBRARY_WORK_H_
