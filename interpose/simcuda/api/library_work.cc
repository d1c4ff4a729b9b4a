#include "interpose/simcuda/api/library_work.h"

#include "interpose/simcuda/graph_capture.h"
#include "interpose/simcuda/machine.h"

namespace memoir::simcuda {

void QueueWorkOn(cudaStream_t handle) {
  if (TheMachine().devices() == 0) return;
  Stream* const stream = FindStream(handle);
  if (stream != nullptr && !AddNode(*stream)) TheMachine().progress().Queue(stream->number());
}

}  // namespace memoir::simcuda
