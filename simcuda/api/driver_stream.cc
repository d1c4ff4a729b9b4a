// The driver's streams and events.
#include "simcuda/api/driver_conversions.h"
#include "simcuda/api/exported.h"
#include "simcuda/streams/graph_capture.h"
#include "simcuda/streams/streams.h"

using memoir::simcuda::Driver;

SIMULATED CUresult cuStreamCreate(CUstream* stream, unsigned flags) {
  return Driver(cudaStreamCreateWithFlags(stream, flags));
}
SIMULATED CUresult cuStreamCreateWithPriority(CUstream* stream, unsigned flags, int priority) {
  return Driver(cudaStreamCreateWithPriority(stream, flags, priority));
}
SIMULATED CUresult cuStreamDestroy_v2(CUstream stream) { return Driver(cudaStreamDestroy(stream)); }
SIMULATED CUresult cuStreamQuery(CUstream stream) { return Driver(cudaStreamQuery(stream)); }
SIMULATED CUresult cuStreamSynchronize(CUstream stream) { return Driver(cudaStreamSynchronize(stream)); }
SIMULATED CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags) {
  return Driver(cudaStreamWaitEvent(stream, event, flags));
}
SIMULATED CUresult cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus* status) {
  const auto* const stream = memoir::simcuda::FindStream(handle);
  if (stream == nullptr) return CUDA_ERROR_INVALID_HANDLE;
  *status = static_cast<CUstreamCaptureStatus>(StateOf(*stream));
  return CUDA_SUCCESS;
}

SIMULATED CUresult cuLaunchHostFunc(CUstream stream, CUhostFn function, void* data) {
  return Driver(cudaLaunchHostFunc(stream, function, data));
}

SIMULATED CUresult cuEventCreate(CUevent* event, unsigned flags) {
  return Driver(cudaEventCreateWithFlags(event, flags));
}
SIMULATED CUresult cuEventDestroy_v2(CUevent event) { return Driver(cudaEventDestroy(event)); }
SIMULATED CUresult cuEventRecord(CUevent event, CUstream stream) { return Driver(cudaEventRecord(event, stream)); }
SIMULATED CUresult cuEventQuery(CUevent event) { return Driver(cudaEventQuery(event)); }
SIMULATED CUresult cuEventSynchronize(CUevent event) { return Driver(cudaEventSynchronize(event)); }
