#include "simcuda/api/library_work.h"

#include "simcuda/machine/machine.h"
#include "simcuda/streams/graph_capture.h"

namespace memoir::simcuda {

void QueueWorkOn(cudaStream_t handle) {
  if (TheMachine().devices() == 0) return;
  Stream* const stream = FindStream(handle);
  if (stream != nullptr && !AddNode(*stream)) TheMachine().progress().Queue(stream->number());
}

}  // namespace memoir::simcuda
