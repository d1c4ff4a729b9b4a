// The runtime's streams and events. stream_progress.h decides when queued work is complete.
#include <cuda_runtime_api.h>
#include <unistd.h>

#include <cstring>

#include "simcuda/api/exported.h"
#include "simcuda/api/runtime_error.h"
#include "simcuda/machine/machine.h"
#include "simcuda/streams/graph_capture.h"
#include "simcuda/streams/streams.h"

using memoir::simcuda::CaptureState;
using memoir::simcuda::Event;
using memoir::simcuda::Expect;
using memoir::simcuda::FindStream;
using memoir::simcuda::IsEvent;
using memoir::simcuda::Return;
using memoir::simcuda::Stream;
using memoir::simcuda::TheMachine;

namespace {

Event* EventOf(cudaEvent_t handle) { return reinterpret_cast<Event*>(handle); }

// Returns the result of a wait or query on `stream`: an error if the stream is being captured, or if another capture
// forbids the wait or query.
cudaError_t Waited(const Stream* stream) {
  if (stream == nullptr) return Return(cudaErrorInvalidResourceHandle);
  if (StateOf(*stream) != CaptureState::kNone) {
    Invalidate(const_cast<Stream&>(*stream));
    return Return(cudaErrorStreamCaptureUnsupported);
  }
  return Expect(!memoir::simcuda::IsRefusedByCapture(), cudaErrorStreamCaptureUnsupported);
}

cudaError_t Waited(const Event* event) {
  if (!IsEvent(event)) return Return(cudaErrorInvalidResourceHandle);
  return Expect(!memoir::simcuda::IsRefusedByCapture(), cudaErrorStreamCaptureUnsupported);
}

}  // namespace

SIMULATED cudaError_t cudaStreamCreateWithPriority(cudaStream_t* stream, unsigned flags, int priority) {
  if (TheMachine().devices() == 0) return Return(cudaErrorNoDevice);
  if (!TheMachine().device(memoir::simcuda::CurrentDevice()).Start()) return Return(cudaErrorMemoryAllocation);
  *stream = reinterpret_cast<cudaStream_t>(memoir::simcuda::NewStream(flags, priority));
  return cudaSuccess;
}

SIMULATED cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags) {
  return cudaStreamCreateWithPriority(stream, flags, 0);
}

SIMULATED cudaError_t cudaStreamCreate(cudaStream_t* stream) { return cudaStreamCreateWithPriority(stream, 0, 0); }

SIMULATED cudaError_t cudaStreamDestroy(cudaStream_t stream) {
  return Expect(memoir::simcuda::DestroyStream(reinterpret_cast<Stream*>(stream)), cudaErrorInvalidResourceHandle);
}

SIMULATED cudaError_t cudaStreamGetPriority(cudaStream_t handle, int* priority) {
  const Stream* const stream = FindStream(handle);
  if (stream != nullptr) *priority = stream->priority;
  return Expect(stream != nullptr, cudaErrorInvalidResourceHandle);
}

SIMULATED cudaError_t cudaStreamGetFlags(cudaStream_t handle, unsigned* flags) {
  const Stream* const stream = FindStream(handle);
  if (stream != nullptr) *flags = stream->flags;
  return Expect(stream != nullptr, cudaErrorInvalidResourceHandle);
}

SIMULATED cudaError_t cudaStreamGetId(cudaStream_t handle, unsigned long long* id) {
  const Stream* const stream = FindStream(handle);
  if (stream != nullptr) *id = stream->id;
  return Expect(stream != nullptr, cudaErrorInvalidResourceHandle);
}

SIMULATED cudaError_t cudaStreamGetDevice(cudaStream_t handle, int* device) {
  const Stream* const stream = FindStream(handle);
  if (stream != nullptr) *device = stream->device;
  return Expect(stream != nullptr, cudaErrorInvalidResourceHandle);
}

SIMULATED cudaError_t cudaStreamQuery(cudaStream_t handle) {
  const Stream* const stream = FindStream(handle);
  if (const cudaError_t error = Waited(stream); error != cudaSuccess) return error;
  return TheMachine().progress().IsIdle(stream->number()) ? cudaSuccess : Return(cudaErrorNotReady);
}

SIMULATED cudaError_t cudaStreamSynchronize(cudaStream_t handle) {
  const Stream* const stream = FindStream(handle);
  if (const cudaError_t error = Waited(stream); error != cudaSuccess) return error;
  TheMachine().progress().FinishStream(stream->number());
  return cudaSuccess;
}

SIMULATED cudaError_t cudaStreamWaitEvent(cudaStream_t handle, cudaEvent_t event, unsigned) {
  Stream* const stream = FindStream(handle);
  if (stream == nullptr || !IsEvent(EventOf(event))) return Return(cudaErrorInvalidResourceHandle);
  TheMachine().progress().Wait(stream->number(), EventOf(event)->mark);
  return Expect(JoinByEvent(*stream, *EventOf(event)), cudaErrorStreamCaptureMerge);
}

SIMULATED cudaError_t cudaStreamAddCallback(cudaStream_t handle, cudaStreamCallback_t callback, void* data, unsigned) {
  const Stream* const stream = FindStream(handle);
  if (stream == nullptr) return Return(cudaErrorInvalidResourceHandle);
  if (StateOf(*stream) != CaptureState::kNone) return Return(cudaErrorStreamCaptureUnsupported);
  callback(handle, cudaSuccess, data);
  return cudaSuccess;
}

SIMULATED cudaError_t cudaLaunchHostFunc(cudaStream_t handle, cudaHostFn_t function, void* data) {
  Stream* const stream = FindStream(handle);
  if (stream == nullptr) return Return(cudaErrorInvalidResourceHandle);
  if (AddNode(*stream)) return cudaSuccess;
  TheMachine().progress().Queue(stream->number());
  function(data);
  return cudaSuccess;
}

SIMULATED cudaError_t cudaEventCreateWithFlags(cudaEvent_t* event, unsigned flags) {
  if (TheMachine().devices() == 0) return Return(cudaErrorNoDevice);
  if (!TheMachine().device(memoir::simcuda::CurrentDevice()).Start()) return Return(cudaErrorMemoryAllocation);
  *event = reinterpret_cast<cudaEvent_t>(memoir::simcuda::NewEvent(flags));
  return cudaSuccess;
}

SIMULATED cudaError_t cudaEventCreate(cudaEvent_t* event) { return cudaEventCreateWithFlags(event, 0); }

SIMULATED cudaError_t cudaEventDestroy(cudaEvent_t event) {
  return Expect(memoir::simcuda::DestroyEvent(EventOf(event)), cudaErrorInvalidResourceHandle);
}

SIMULATED cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t handle) {
  const Stream* const stream = FindStream(handle);
  if (stream == nullptr || !IsEvent(EventOf(event))) return Return(cudaErrorInvalidResourceHandle);
  RecordEvent(*EventOf(event), *stream);
  return cudaSuccess;
}

SIMULATED cudaError_t cudaEventRecordWithFlags(cudaEvent_t event, cudaStream_t stream, unsigned) {
  return cudaEventRecord(event, stream);
}

SIMULATED cudaError_t cudaEventQuery(cudaEvent_t event) {
  if (const cudaError_t error = Waited(EventOf(event)); error != cudaSuccess) return error;
  return TheMachine().progress().IsDone(EventOf(event)->mark) ? cudaSuccess : Return(cudaErrorNotReady);
}

SIMULATED cudaError_t cudaEventSynchronize(cudaEvent_t event) {
  if (const cudaError_t error = Waited(EventOf(event)); error != cudaSuccess) return error;
  TheMachine().progress().FinishMark(EventOf(event)->mark);
  return cudaSuccess;
}

SIMULATED cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  const Event *const from = EventOf(start), *const to = EventOf(end);
  if (!IsEvent(from) || !IsEvent(to) || !from->recorded || !to->recorded) return Return(cudaErrorInvalidResourceHandle);
  if ((from->flags & cudaEventDisableTiming) != 0 || (to->flags & cudaEventDisableTiming) != 0)
    return Return(cudaErrorInvalidResourceHandle);
  // The time between the two calls of cudaEventRecord on the host, because kernels take no time.
  *milliseconds =
      static_cast<float>(static_cast<double>(to->nanoseconds) - static_cast<double>(from->nanoseconds)) / 1e6f;
  return cudaSuccess;
}

// An event of another process always counts as complete. So the handle need not identify `event`, and
// cudaIpcOpenEventHandle creates a new event.
SIMULATED cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t* handle, cudaEvent_t event) {
  if (!IsEvent(EventOf(event))) return Return(cudaErrorInvalidResourceHandle);
  *handle = cudaIpcEventHandle_t();
  const int process = getpid();
  std::memcpy(handle->reserved, &process, sizeof process);
  return cudaSuccess;
}

SIMULATED cudaError_t cudaIpcOpenEventHandle(cudaEvent_t* event, cudaIpcEventHandle_t) {
  return cudaEventCreateWithFlags(event, cudaEventDisableTiming | cudaEventInterprocess);
}
