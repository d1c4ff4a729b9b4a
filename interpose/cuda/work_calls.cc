// Wraps copies, fills, waits and graph calls of CUDA's runtime and driver. cudaDeviceSynchronize is in
// context_calls.cc.
#include <cstdint>

#include "interpose/cuda/device_call_records.h"
#include "interpose/cuda/wrapped_calls.h"

namespace memoir {
namespace {

using Bytes = std::size_t;
using Stream = void*;

// Values of DeviceWork::copy_kind: cudaMemcpyKind plus 1. kByAddress: the driver derives the direction from the
// addresses.
constexpr std::uint8_t kHostToDevice = 2, kDeviceToHost = 3, kDeviceToDevice = 4, kByAddress = 5;

std::uint8_t KindOf(int runtime_kind) {
  return runtime_kind >= 0 && runtime_kind < kByAddress ? static_cast<std::uint8_t>(runtime_kind + 1) : 0;
}

int Copy(const CallSite&, int (*original)(void*, const void*, Bytes, int), void* to, const void* from, Bytes bytes,
         int kind) {
  return RunAndRecord(
      DeviceCallKind::kCopy, [&] { return original(to, from, bytes, kind); },
      [&](int) { return DeviceWork{nullptr, bytes, KindOf(kind)}; });
}

int CopyAsync(const CallSite&, int (*original)(void*, const void*, Bytes, int, Stream), void* to, const void* from,
              Bytes bytes, int kind, Stream stream) {
  return RunAndRecord(
      DeviceCallKind::kCopyAsync, [&] { return original(to, from, bytes, kind, stream); },
      [&](int) { return DeviceWork{stream, bytes, KindOf(kind)}; });
}

template <DeviceCallKind kCall, class... S>  // S: Stream, or nothing for a call without a stream
int CopyRows(const CallSite&, int (*original)(void*, Bytes, const void*, Bytes, Bytes, Bytes, int, S...), void* to,
             Bytes to_pitch, const void* from, Bytes from_pitch, Bytes width, Bytes height, int kind, S... stream) {
  return RunAndRecord(
      kCall, [&] { return original(to, to_pitch, from, from_pitch, width, height, kind, stream...); },
      [&](int) {
        DeviceWork work{nullptr, width * height, KindOf(kind)};
        ((work.stream = stream), ...);
        return work;
      });
}

int CopyPeer(const CallSite&, int (*original)(void*, int, const void*, int, Bytes, Stream), void* to, int to_device,
             const void* from, int from_device, Bytes bytes, Stream stream) {
  return RunAndRecord(
      DeviceCallKind::kCopyAsync, [&] { return original(to, to_device, from, from_device, bytes, stream); },
      [&](int) { return DeviceWork{stream, bytes, kDeviceToDevice}; });
}

// Wraps a copy function of the driver. `kKind`: the direction in the function's name; kByAddress for a name
// without a direction.
template <DeviceCallKind kCall, std::uint8_t kKind, class... S>
int CopyTo(const CallSite&, int (*original)(void*, const void*, Bytes, S...), void* to, const void* from, Bytes bytes,
           S... stream) {
  return RunAndRecord(
      kCall, [&] { return original(to, from, bytes, stream...); },
      [&](int) {
        DeviceWork work{nullptr, bytes, kKind};
        ((work.stream = stream), ...);
        return work;
      });
}

template <DeviceCallKind kCall, class Value, Bytes kWidth, class... S>
int Set(const CallSite&, int (*original)(void*, Value, Bytes, S...), void* at, Value value, Bytes count, S... stream) {
  return RunAndRecord(
      kCall, [&] { return original(at, value, count, stream...); },
      [&](int) {
        DeviceWork work{nullptr, count * kWidth};
        ((work.stream = stream), ...);
        return work;
      });
}

int SynchronizeStream(const CallSite&, int (*original)(Stream), Stream stream) {
  return RunAndRecord(
      DeviceCallKind::kStreamSynchronize, [&] { return original(stream); }, [&](int) { return DeviceWork{stream}; });
}

// Wraps cuCtxSynchronize. Since CUDA 13 the context is an argument.
template <class... Context>
int SynchronizeContext(const CallSite&, int (*original)(Context...), Context... context) {
  return RunAndRecord(
      DeviceCallKind::kDeviceSynchronize, [&] { return original(context...); }, [](int) { return DeviceWork{}; });
}

int SynchronizeEvent(const CallSite&, int (*original)(void*), void* event) {
  return RunAndRecord(
      DeviceCallKind::kEventSynchronize, [&] { return original(event); }, [](int) { return DeviceWork{}; });
}

int BeginCapture(const CallSite&, int (*original)(Stream, int), Stream stream, int mode) {
  return RunAndRecord(
      DeviceCallKind::kStreamBeginCapture, [&] { return original(stream, mode); },
      [&](int) { return DeviceWork{stream}; });
}

int EndCapture(const CallSite&, int (*original)(Stream, void**), Stream stream, void** graph) {
  return RunAndRecord(
      DeviceCallKind::kStreamEndCapture, [&] { return original(stream, graph); },
      [&](int result) {
        DeviceWork work{stream};
        if (result == 0) work.graph = *graph;
        return work;
      });
}

// cudaGraphInstantiate has five arguments before CUDA 12, and three since. The wrapper passes on five argument
// registers in all versions.
using Word = std::uint64_t;
template <class... More>
int Instantiate(const CallSite&, int (*original)(void**, void*, Word, More...), void** exec, void* graph, Word flags,
                More... more) {
  return RunAndRecord(
      DeviceCallKind::kGraphInstantiate, [&] { return original(exec, graph, flags, more...); },
      [&](int result) {
        DeviceWork work;
        work.graph = graph;
        if (result == 0) work.graph_exec = *exec;
        return work;
      });
}

int LaunchGraph(const CallSite&, int (*original)(void*, Stream), void* exec, Stream stream) {
  return RunAndRecord(
      DeviceCallKind::kGraphLaunch, [&] { return original(exec, stream); },
      [&](int) {
        DeviceWork work{stream};
        work.graph_exec = exec;
        return work;
      });
}

int DestroyGraph(const CallSite&, int (*original)(void*), void* graph) {
  return RunAndRecord(
      DeviceCallKind::kGraphDestroy, [&] { return original(graph); },
      [&](int) {
        DeviceWork work;
        work.graph = graph;
        return work;
      });
}

int DestroyExec(const CallSite&, int (*original)(void*), void* exec) {
  return RunAndRecord(
      DeviceCallKind::kGraphExecDestroy, [&] { return original(exec); },
      [&](int) {
        DeviceWork work;
        work.graph_exec = exec;
        return work;
      });
}

constexpr WrappedCall kCalls[] = {
    Wrapped<"cudaMemcpy", &Copy>(),
    Wrapped<"cudaMemcpyAsync", &CopyAsync>(),
    Wrapped<"cudaMemcpyAsync_ptsz", &CopyAsync>(),
    Wrapped<"cudaMemcpy2D", &CopyRows<DeviceCallKind::kCopy>>(),
    Wrapped<"cudaMemcpy2DAsync", &CopyRows<DeviceCallKind::kCopyAsync, Stream>>(),
    Wrapped<"cudaMemcpyPeerAsync", &CopyPeer>(),
    Wrapped<"cudaMemset", &Set<DeviceCallKind::kSet, int, 1>>(),
    Wrapped<"cudaMemsetAsync", &Set<DeviceCallKind::kSetAsync, int, 1, Stream>>(),
    Wrapped<"cudaMemsetAsync_ptsz", &Set<DeviceCallKind::kSetAsync, int, 1, Stream>>(),
    Wrapped<"cudaStreamSynchronize", &SynchronizeStream>(),
    Wrapped<"cudaStreamSynchronize_ptsz", &SynchronizeStream>(),
    Wrapped<"cudaEventSynchronize", &SynchronizeEvent>(),
    Wrapped<"cudaStreamBeginCapture", &BeginCapture>(),
    Wrapped<"cudaStreamBeginCapture_ptsz", &BeginCapture>(),
    Wrapped<"cudaStreamEndCapture", &EndCapture>(),
    Wrapped<"cudaStreamEndCapture_ptsz", &EndCapture>(),
    Wrapped<"cudaGraphInstantiate", &Instantiate<Word, Word>>(),
    Wrapped<"cudaGraphInstantiateWithFlags", &Instantiate<>>(),
    Wrapped<"cudaGraphLaunch", &LaunchGraph>(),
    Wrapped<"cudaGraphLaunch_ptsz", &LaunchGraph>(),
    Wrapped<"cudaGraphDestroy", &DestroyGraph>(),
    Wrapped<"cudaGraphExecDestroy", &DestroyExec>(),
    Wrapped<"cuMemcpyHtoD_v2", &CopyTo<DeviceCallKind::kCopy, kHostToDevice>>(),
    Wrapped<"cuMemcpyDtoH_v2", &CopyTo<DeviceCallKind::kCopy, kDeviceToHost>>(),
    Wrapped<"cuMemcpyDtoD_v2", &CopyTo<DeviceCallKind::kCopy, kDeviceToDevice>>(),
    Wrapped<"cuMemcpyAsync", &CopyTo<DeviceCallKind::kCopyAsync, kByAddress, Stream>>(),
    Wrapped<"cuMemcpyHtoDAsync_v2", &CopyTo<DeviceCallKind::kCopyAsync, kHostToDevice, Stream>>(),
    Wrapped<"cuMemcpyDtoHAsync_v2", &CopyTo<DeviceCallKind::kCopyAsync, kDeviceToHost, Stream>>(),
    Wrapped<"cuMemcpyDtoDAsync_v2", &CopyTo<DeviceCallKind::kCopyAsync, kDeviceToDevice, Stream>>(),
    Wrapped<"cuMemsetD8Async", &Set<DeviceCallKind::kSetAsync, unsigned char, 1, Stream>>(),
    Wrapped<"cuMemsetD32Async", &Set<DeviceCallKind::kSetAsync, unsigned, 4, Stream>>(),
    Wrapped<"cuStreamSynchronize", &SynchronizeStream>(),
    Wrapped<"cuCtxSynchronize", &SynchronizeContext<>>(),
    Wrapped<"cuCtxSynchronize_v2", &SynchronizeContext<void*>>(),
    Wrapped<"cuEventSynchronize", &SynchronizeEvent>(),
    Wrapped<"cuStreamBeginCapture_v2", &BeginCapture>(),
    Wrapped<"cuStreamEndCapture", &EndCapture>(),
    Wrapped<"cuGraphInstantiateWithFlags", &Instantiate<>>(),
    Wrapped<"cuGraphLaunch", &LaunchGraph>(),
    Wrapped<"cuGraphDestroy", &DestroyGraph>(),
    Wrapped<"cuGraphExecDestroy", &DestroyExec>(),
};

}  // namespace

std::span<const WrappedCall> WorkCalls() { return kCalls; }

}  // namespace memoir
