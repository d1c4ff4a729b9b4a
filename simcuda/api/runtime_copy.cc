// The runtime's copies and fills. contents.h defines which bytes are kept.
#include <cuda_runtime_api.h>

#include "simcuda/api/exported.h"
#include "simcuda/api/runtime_error.h"
#include "simcuda/kernels/kernels.h"
#include "simcuda/kernels/unknown_shapes.h"
#include "simcuda/machine/machine.h"
#include "simcuda/streams/graph_capture.h"
#include "simcuda/streams/streams.h"

using memoir::simcuda::Expect;
using memoir::simcuda::Return;
using memoir::simcuda::TheMachine;

namespace {

// Adds a copy or fill to the graph if the stream is being captured, else to the queued work of the stream. True if the
// caller must copy or fill the bytes now. False if the copy or fill was captured (`*error` is success), or if the
// stream is invalid.
bool RunsNow(cudaStream_t handle, const void* to, std::size_t bytes, cudaError_t* error) {
  auto* const stream = memoir::simcuda::FindStream(handle);
  *error = Expect(stream != nullptr, cudaErrorInvalidResourceHandle);
  if (stream == nullptr) return false;
  if (memoir::simcuda::AddNode(*stream)) {
    NoteWrite(*stream, {reinterpret_cast<std::uint64_t>(to), bytes});
    return false;
  }
  TheMachine().progress().Queue(stream->number());
  return true;
}

void Copy(void* to, const void* from, std::size_t bytes) {
  if (!TheMachine().contents().Copy(to, from, bytes)) memoir::simcuda::NoteUnknownNumber(bytes);
}

void CopyRows(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch, std::size_t width,
              std::size_t height) {
  if (to_pitch == width && from_pitch == width) {
    Copy(to, from, width * height);
    return;
  }
  for (std::size_t row = 0; row < height; ++row) {
    Copy(static_cast<char*>(to) + row * to_pitch, static_cast<const char*>(from) + row * from_pitch, width);
  }
}

}  // namespace

SIMULATED cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  if (bytes > 0 && (to == nullptr || from == nullptr)) return Return(cudaErrorInvalidValue);
  if (memoir::simcuda::IsRefusedByCapture()) return Return(cudaErrorStreamCaptureImplicit);
  Copy(to, from, bytes);
  TheMachine().progress().FinishStream(memoir::simcuda::FindStream(nullptr)->number());
  return cudaSuccess;
}

SIMULATED cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind,
                                      cudaStream_t stream) {
  if (bytes > 0 && (to == nullptr || from == nullptr)) return Return(cudaErrorInvalidValue);
  cudaError_t error = cudaSuccess;
  if (RunsNow(stream, to, bytes, &error)) Copy(to, from, bytes);
  return error;
}

SIMULATED cudaError_t cudaMemcpyPeer(void* to, int, const void* from, int, std::size_t bytes) {
  return cudaMemcpy(to, from, bytes, cudaMemcpyDefault);
}

SIMULATED cudaError_t cudaMemcpyPeerAsync(void* to, int, const void* from, int, std::size_t bytes,
                                          cudaStream_t stream) {
  return cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream);
}

SIMULATED cudaError_t cudaMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                   std::size_t width, std::size_t height, cudaMemcpyKind) {
  if (memoir::simcuda::IsRefusedByCapture()) return Return(cudaErrorStreamCaptureImplicit);
  CopyRows(to, to_pitch, from, from_pitch, width, height);
  return cudaSuccess;
}

SIMULATED cudaError_t cudaMemcpy2DAsync(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                                        std::size_t width, std::size_t height, cudaMemcpyKind, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  const std::size_t spread = height == 0 ? 0 : (height - 1) * to_pitch + width;
  if (RunsNow(stream, to, spread, &error)) CopyRows(to, to_pitch, from, from_pitch, width, height);
  return error;
}

SIMULATED cudaError_t cudaMemset(void* to, int value, std::size_t bytes) {
  if (memoir::simcuda::IsRefusedByCapture()) return Return(cudaErrorStreamCaptureImplicit);
  TheMachine().contents().Fill(to, value, bytes);
  return cudaSuccess;
}

SIMULATED cudaError_t cudaMemsetAsync(void* to, int value, std::size_t bytes, cudaStream_t stream) {
  cudaError_t error = cudaSuccess;
  if (RunsNow(stream, to, bytes, &error)) TheMachine().contents().Fill(to, value, bytes);
  return error;
}

SIMULATED cudaError_t cudaGetSymbolAddress(void** address, const void* symbol) {
  *address = reinterpret_cast<void*>(memoir::simcuda::VariableAddress(symbol, memoir::simcuda::CurrentDevice()));
  return Expect(*address != nullptr, cudaErrorInvalidSymbol);
}

SIMULATED cudaError_t cudaGetSymbolSize(std::size_t* bytes, const void* symbol) {
  *bytes = memoir::simcuda::VariableBytes(symbol);
  return Expect(*bytes > 0, cudaErrorInvalidSymbol);
}

SIMULATED cudaError_t cudaMemcpyToSymbol(const void* symbol, const void* from, std::size_t bytes, std::size_t offset,
                                         cudaMemcpyKind kind) {
  void* address = nullptr;
  if (const cudaError_t error = cudaGetSymbolAddress(&address, symbol); error != cudaSuccess) return error;
  if (offset + bytes > memoir::simcuda::VariableBytes(symbol)) return Return(cudaErrorInvalidValue);
  return cudaMemcpy(static_cast<char*>(address) + offset, from, bytes, kind);
}

SIMULATED cudaError_t cudaMemcpyFromSymbol(void* to, const void* symbol, std::size_t bytes, std::size_t offset,
                                           cudaMemcpyKind kind) {
  void* address = nullptr;
  if (const cudaError_t error = cudaGetSymbolAddress(&address, symbol); error != cudaSuccess) return error;
  if (offset + bytes > memoir::simcuda::VariableBytes(symbol)) return Return(cudaErrorInvalidValue);
  return cudaMemcpy(to, static_cast<const char*>(address) + offset, bytes, kind);
}
