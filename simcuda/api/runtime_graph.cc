// The runtime's capture and graphs (simcuda/streams/graph_capture.h).
#include <cuda_runtime_api.h>

#include <algorithm>

#include "simcuda/api/exported.h"
#include "simcuda/api/runtime_error.h"
#include "simcuda/streams/graph_capture.h"
#include "simcuda/streams/streams.h"

using memoir::simcuda::CaptureMode;
using memoir::simcuda::EndResult;
using memoir::simcuda::Expect;
using memoir::simcuda::FindStream;
using memoir::simcuda::Graph;
using memoir::simcuda::Return;
using memoir::simcuda::Stream;

namespace {

Graph* GraphOf(cudaGraph_t handle) { return reinterpret_cast<Graph*>(handle); }
cudaGraph_t HandleOf(Graph* graph) { return reinterpret_cast<cudaGraph_t>(graph); }

}  // namespace

SIMULATED cudaError_t cudaStreamBeginCapture(cudaStream_t handle, cudaStreamCaptureMode mode) {
  Stream* const stream = FindStream(handle);
  if (stream == nullptr) return Return(cudaErrorInvalidResourceHandle);
  if (stream->id == 0) return Return(cudaErrorStreamCaptureUnsupported);  // a default stream
  return Expect(BeginCapture(*stream, static_cast<CaptureMode>(mode)), cudaErrorIllegalState);
}

SIMULATED cudaError_t cudaStreamEndCapture(cudaStream_t handle, cudaGraph_t* graph) {
  Stream* const stream = FindStream(handle);
  if (stream == nullptr) return Return(cudaErrorInvalidResourceHandle);
  Graph* ended = nullptr;
  const EndResult result = EndCapture(*stream, &ended);
  *graph = HandleOf(ended);
  switch (result) {
    case EndResult::kGraph:
      return cudaSuccess;
    case EndResult::kNotCapturing:
      return Return(cudaErrorIllegalState);
    case EndResult::kNotTheOrigin:
      return Return(cudaErrorStreamCaptureUnmatched);
    case EndResult::kInvalidated:
      return Return(cudaErrorStreamCaptureInvalidated);
  }
  return Return(cudaErrorUnknown);
}

SIMULATED cudaError_t cudaStreamIsCapturing(cudaStream_t handle, cudaStreamCaptureStatus* status) {
  const Stream* const stream = FindStream(handle);
  if (stream == nullptr) return Return(cudaErrorInvalidResourceHandle);
  *status = static_cast<cudaStreamCaptureStatus>(StateOf(*stream));
  return cudaSuccess;
}

SIMULATED cudaError_t cudaStreamGetCaptureInfo(cudaStream_t handle, cudaStreamCaptureStatus* status,
                                               unsigned long long* id, cudaGraph_t* graph,
                                               const cudaGraphNode_t** dependencies, const cudaGraphEdgeData** edges,
                                               std::size_t* count) {
  const Stream* const stream = FindStream(handle);
  if (stream == nullptr) return Return(cudaErrorInvalidResourceHandle);
  *status = static_cast<cudaStreamCaptureStatus>(StateOf(*stream));
  if (id != nullptr) *id = CaptureId(*stream);
  if (graph != nullptr) *graph = HandleOf(memoir::simcuda::GraphOf(*stream));
  if (dependencies != nullptr) *dependencies = nullptr;
  if (edges != nullptr) *edges = nullptr;
  if (count != nullptr) *count = 0;
  return cudaSuccess;
}

SIMULATED cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode) {
  *mode = static_cast<cudaStreamCaptureMode>(memoir::simcuda::ExchangeThreadMode(static_cast<CaptureMode>(*mode)));
  return cudaSuccess;
}

SIMULATED cudaError_t cudaGraphCreate(cudaGraph_t* graph, unsigned) {
  *graph = HandleOf(new Graph);
  return cudaSuccess;
}

SIMULATED cudaError_t cudaGraphDestroy(cudaGraph_t graph) {
  delete GraphOf(graph);
  return cudaSuccess;
}

// Returns only the number of nodes, because nodes are not stored. Returns at least 1: cuFFT's work adds no nodes here,
// and torch warns about a graph without nodes.
SIMULATED cudaError_t cudaGraphGetNodes(cudaGraph_t graph, cudaGraphNode_t* nodes, std::size_t* count) {
  const std::size_t known = std::max<std::size_t>(GraphOf(graph)->nodes, 1);
  if (nodes != nullptr) std::fill_n(nodes, std::min(*count, known), nullptr);
  *count = nodes == nullptr ? known : std::min(*count, known);
  return cudaSuccess;
}

SIMULATED cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t, cudaGraphNode_t*, cudaGraphEdgeData*,
                                                   std::size_t* count) {
  *count = 0;
  return cudaSuccess;
}

SIMULATED cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t* executable, cudaGraph_t graph,
                                                    unsigned long long) {
  *executable = reinterpret_cast<cudaGraphExec_t>(memoir::simcuda::NewExecutable(*GraphOf(graph)));
  return cudaSuccess;
}

SIMULATED cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags) {
  return cudaGraphInstantiateWithFlags(executable, graph, flags);
}

SIMULATED cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) {
  memoir::simcuda::DestroyExecutable(executable);
  return cudaSuccess;
}

SIMULATED cudaError_t cudaGraphExecUpdate(cudaGraphExec_t executable, cudaGraph_t graph,
                                          cudaGraphExecUpdateResultInfo* result) {
  if (result != nullptr) *result = {cudaGraphExecUpdateSuccess, nullptr, nullptr};
  return Expect(memoir::simcuda::UpdateExecutable(executable, *GraphOf(graph)), cudaErrorInvalidValue);
}

SIMULATED cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t handle) {
  Stream* const stream = FindStream(handle);
  if (stream == nullptr) return Return(cudaErrorInvalidResourceHandle);
  Replay(executable, *stream);
  return cudaSuccess;
}
