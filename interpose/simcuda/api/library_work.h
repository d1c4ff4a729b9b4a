// Work that a call into cuBLAS, cuDNN and their like queues: one piece on the stream of its handle, as a launch would.
//
// A handle of theirs begins with the stream that was set on it (handles.h). Any thread.
#ifndef INTERPOSE_SIMCUDA_API_LIBRARY_WORK_H_
#define INTERPOSE_SIMCUDA_API_LIBRARY_WORK_H_

#include <cuda_runtime_api.h>

#include "interpose/simcuda/handles.h"

namespace memoir::simcuda {

// Captured, or queued and late (progress.h).
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

#endif  // INTERPOSE_SIMCUDA_API_LIBRARY_WORK_H_
