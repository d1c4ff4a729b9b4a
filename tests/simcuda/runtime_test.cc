// The CUDA runtime as torch uses it, on the library itself.
#include <cuda_runtime_api.h>

#include <array>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

#include "gtest/gtest.h"
#include "tests/simcuda/simulated_library.h"

namespace memoir::simcuda {
namespace {

void* Malloc(std::size_t bytes) {
  void* pointer = nullptr;
  EXPECT_EQ(SIM(cudaMalloc)(&pointer, bytes), cudaSuccess);
  return pointer;
}

TEST(RuntimeDevices, AreWhatTheProfileSays) {
  int count = 0, multiprocessors = 0;
  ASSERT_EQ(SIM(cudaGetDeviceCount)(&count), cudaSuccess);
  EXPECT_EQ(count, 2);
  cudaDeviceProp properties;
  ASSERT_EQ(SIM(cudaGetDeviceProperties)(&properties, 1), cudaSuccess);
  EXPECT_STREQ(properties.name, "NVIDIA L4");
  EXPECT_EQ(properties.major, 8);
  EXPECT_EQ(properties.minor, 9);
  EXPECT_EQ(properties.totalGlobalMem, kTestMemory);
  ASSERT_EQ(SIM(cudaDeviceGetAttribute)(&multiprocessors, cudaDevAttrMultiProcessorCount, 0), cudaSuccess);
  EXPECT_EQ(multiprocessors, 58);
}

TEST(RuntimeDevices, MoreThanThereAreIsAnError) {
  cudaDeviceProp properties;
  EXPECT_EQ(SIM(cudaSetDevice)(2), cudaErrorInvalidDevice);
  EXPECT_EQ(SIM(cudaPeekAtLastError)(), cudaErrorInvalidDevice);
  EXPECT_EQ(SIM(cudaGetLastError)(), cudaErrorInvalidDevice);
  EXPECT_EQ(SIM(cudaGetLastError)(), cudaSuccess);
  EXPECT_EQ(SIM(cudaGetDeviceProperties)(&properties, -1), cudaErrorInvalidDevice);
  EXPECT_STREQ(SIM(cudaGetErrorString)(cudaErrorInvalidDevice), "invalid device ordinal");
}

TEST(RuntimeDevices, EachThreadHasItsOwn) {
  ASSERT_EQ(SIM(cudaSetDevice)(1), cudaSuccess);
  int other = -1, own = -1;
  std::thread([&] { SIM(cudaGetDevice)(&other); }).join();
  SIM(cudaGetDevice)(&own);
  EXPECT_EQ(other, 0);
  EXPECT_EQ(own, 1);
  SIM(cudaSetDevice)(0);
}

TEST(RuntimeDevices, PeersAreEnabledOnce) {
  int can = 0;
  ASSERT_EQ(SIM(cudaDeviceCanAccessPeer)(&can, 0, 1), cudaSuccess);
  EXPECT_EQ(can, 1);
  EXPECT_EQ(SIM(cudaDeviceDisablePeerAccess)(1), cudaErrorPeerAccessNotEnabled);
  EXPECT_EQ(SIM(cudaDeviceEnablePeerAccess)(1, 0), cudaSuccess);
  EXPECT_EQ(SIM(cudaDeviceEnablePeerAccess)(1, 0), cudaErrorPeerAccessAlreadyEnabled);
  EXPECT_EQ(SIM(cudaDeviceDisablePeerAccess)(1), cudaSuccess);
  SIM(cudaGetLastError)();
}

TEST(RuntimeMemory, RunsOutExactlyAtTheBudget) {
  const std::uint64_t free = FreeBytes();
  EXPECT_EQ(free, kTestMemory - kTestContext);
  void* pointer = nullptr;
  EXPECT_EQ(SIM(cudaMalloc)(&pointer, free + 1), cudaErrorMemoryAllocation);
  EXPECT_EQ(pointer, nullptr);
  EXPECT_EQ(SIM(cudaGetLastError)(), cudaErrorMemoryAllocation);
  void* const all = Malloc(free);
  EXPECT_EQ(FreeBytes(), 0u);
  EXPECT_EQ(SIM(cudaFree)(all), cudaSuccess);
  EXPECT_EQ(FreeBytes(), free);
  EXPECT_EQ(SIM(cudaFree)(all), cudaErrorInvalidValue);
  EXPECT_EQ(SIM(cudaFree)(nullptr), cudaSuccess);
  SIM(cudaGetLastError)();
}

TEST(RuntimeMemory, SaysWhatAnAddressIs) {
  ASSERT_EQ(SIM(cudaSetDevice)(1), cudaSuccess);
  void* const block = Malloc(100);
  SIM(cudaSetDevice)(0);
  void* pinned = nullptr;
  ASSERT_EQ(SIM(cudaHostAlloc)(&pinned, 100, 0), cudaSuccess);
  cudaPointerAttributes attributes;
  SIM(cudaPointerGetAttributes)(&attributes, static_cast<char*>(block) + 50);
  EXPECT_EQ(attributes.type, cudaMemoryTypeDevice);
  EXPECT_EQ(attributes.device, 1);
  SIM(cudaPointerGetAttributes)(&attributes, pinned);
  EXPECT_EQ(attributes.type, cudaMemoryTypeHost);
  SIM(cudaPointerGetAttributes)(&attributes, &attributes);
  EXPECT_EQ(attributes.type, cudaMemoryTypeUnregistered);
  EXPECT_EQ(SIM(cudaFreeHost)(pinned), cudaSuccess);
  EXPECT_EQ(SIM(cudaFreeHost)(pinned), cudaErrorInvalidValue);
  EXPECT_EQ(SIM(cudaFree)(block), cudaSuccess);
}

TEST(RuntimeMemory, HostMemoryIsRegisteredOnce) {
  std::vector<char> buffer(10000);
  EXPECT_EQ(SIM(cudaHostRegister)(buffer.data(), buffer.size(), 0), cudaSuccess);
  EXPECT_EQ(SIM(cudaHostRegister)(buffer.data() + 100, 10, 0), cudaErrorHostMemoryAlreadyRegistered);
  EXPECT_EQ(SIM(cudaHostUnregister)(buffer.data()), cudaSuccess);
  EXPECT_EQ(SIM(cudaHostUnregister)(buffer.data()), cudaErrorHostMemoryNotRegistered);
}

TEST(RuntimeMemory, ManagedMemoryIsNotCharged) {
  const std::uint64_t free = FreeBytes();
  void* pointer = nullptr;
  ASSERT_EQ(SIM(cudaMallocManaged)(&pointer, 8ull << 30, cudaMemAttachGlobal), cudaSuccess);
  std::memset(pointer, 1, 100);
  EXPECT_EQ(FreeBytes(), free);
  EXPECT_EQ(SIM(cudaFree)(pointer), cudaSuccess);
}

TEST(RuntimeMemory, ForeignHandlesAreOpened) {
  void* const block = Malloc(100);
  cudaIpcMemHandle_t handle;
  ASSERT_EQ(SIM(cudaIpcGetMemHandle)(&handle, block), cudaSuccess);
  void* opened = nullptr;
  EXPECT_EQ(SIM(cudaIpcOpenMemHandle)(&opened, handle, 0), cudaErrorInvalidValue) << "of this very process";
  ++reinterpret_cast<int*>(handle.reserved)[4];  // the process
  const std::uint64_t free = FreeBytes();
  ASSERT_EQ(SIM(cudaIpcOpenMemHandle)(&opened, handle, 0), cudaSuccess);
  EXPECT_EQ(FreeBytes(), free);
  EXPECT_EQ(SIM(cudaIpcCloseMemHandle)(opened), cudaSuccess);
  EXPECT_EQ(SIM(cudaIpcCloseMemHandle)(block), cudaErrorInvalidValue);
  SIM(cudaFree)(block);
}

TEST(RuntimeCopies, GoThroughTheDevice) {
  void* const block = Malloc(4096);
  char back[6] = "";
  EXPECT_EQ(SIM(cudaMemcpy)(block, "hello", 6, cudaMemcpyHostToDevice), cudaSuccess);
  EXPECT_EQ(SIM(cudaMemcpyAsync)(static_cast<char*>(block) + 100, block, 6, cudaMemcpyDeviceToDevice, nullptr),
            cudaSuccess);
  EXPECT_EQ(SIM(cudaMemcpy)(back, static_cast<char*>(block) + 100, 6, cudaMemcpyDeviceToHost), cudaSuccess);
  EXPECT_STREQ(back, "hello");
  EXPECT_EQ(SIM(cudaMemcpy)(nullptr, block, 6, cudaMemcpyDeviceToHost), cudaErrorInvalidValue);
  const char rows[] = "ab--cd--";
  EXPECT_EQ(SIM(cudaMemcpy2D)(block, 2, rows, 4, 2, 2, cudaMemcpyHostToDevice), cudaSuccess);
  SIM(cudaMemcpy)(back, block, 4, cudaMemcpyDeviceToHost);
  EXPECT_EQ(std::string(back, 4), "abcd");
  SIM(cudaFree)(block);
  SIM(cudaGetLastError)();
}

TEST(RuntimeStreams, HandlesAreChecked) {
  cudaStream_t stream = nullptr;
  ASSERT_EQ(SIM(cudaStreamCreateWithPriority)(&stream, cudaStreamNonBlocking, -3), cudaSuccess);
  int priority = 0;
  EXPECT_EQ(SIM(cudaStreamGetPriority)(stream, &priority), cudaSuccess);
  EXPECT_EQ(priority, -3);
  EXPECT_EQ(SIM(cudaStreamQuery)(stream), cudaSuccess);
  EXPECT_EQ(SIM(cudaStreamDestroy)(stream), cudaSuccess);
  EXPECT_EQ(SIM(cudaStreamSynchronize)(stream), cudaErrorInvalidResourceHandle);
  EXPECT_EQ(SIM(cudaStreamSynchronize)(nullptr), cudaSuccess);
  SIM(cudaGetLastError)();
}

TEST(RuntimeStreams, EventsKnowTheirTime) {
  cudaEvent_t start = nullptr, end = nullptr, untimed = nullptr;
  SIM(cudaEventCreateWithFlags)(&start, cudaEventDefault);
  SIM(cudaEventCreateWithFlags)(&end, cudaEventDefault);
  SIM(cudaEventCreateWithFlags)(&untimed, cudaEventDisableTiming);
  float milliseconds = -1;
  EXPECT_EQ(SIM(cudaEventElapsedTime)(&milliseconds, start, end), cudaErrorInvalidResourceHandle) << "not recorded";
  for (cudaEvent_t event : {start, end, untimed}) EXPECT_EQ(SIM(cudaEventRecord)(event, nullptr), cudaSuccess);
  EXPECT_EQ(SIM(cudaEventElapsedTime)(&milliseconds, start, end), cudaSuccess);
  EXPECT_GE(milliseconds, 0);
  EXPECT_EQ(SIM(cudaEventElapsedTime)(&milliseconds, start, untimed), cudaErrorInvalidResourceHandle);
  for (cudaEvent_t event : {start, end, untimed}) EXPECT_EQ(SIM(cudaEventDestroy)(event), cudaSuccess);
  EXPECT_EQ(SIM(cudaEventQuery)(start), cudaErrorInvalidResourceHandle);
  SIM(cudaGetLastError)();
}

TEST(RuntimeGraphs, CaptureAndReplay) {
  cudaStream_t stream = nullptr;
  SIM(cudaStreamCreate)(&stream);
  void* const block = Malloc(100);
  ASSERT_EQ(SIM(cudaStreamBeginCapture)(stream, cudaStreamCaptureModeGlobal), cudaSuccess);
  EXPECT_EQ(SIM(cudaMemsetAsync)(block, 1, 100, stream), cudaSuccess);
  EXPECT_EQ(SIM(cudaMemsetAsync)(block, 2, 100, stream), cudaSuccess);
  cudaGraph_t graph = nullptr;
  ASSERT_EQ(SIM(cudaStreamEndCapture)(stream, &graph), cudaSuccess);
  std::size_t nodes = 0;
  EXPECT_EQ(SIM(cudaGraphGetNodes)(graph, nullptr, &nodes), cudaSuccess);
  EXPECT_EQ(nodes, 2u);
  char byte = 9;
  SIM(cudaMemcpy)(&byte, block, 1, cudaMemcpyDeviceToHost);
  EXPECT_EQ(byte, 0) << "captured work is not done";
  cudaGraphExec_t executable = nullptr;
  ASSERT_EQ(SIM(cudaGraphInstantiateWithFlags)(&executable, graph, 0), cudaSuccess);
  EXPECT_EQ(SIM(cudaGraphLaunch)(executable, stream), cudaSuccess);
  EXPECT_EQ(SIM(cudaGraphExecDestroy)(executable), cudaSuccess);
  EXPECT_EQ(SIM(cudaGraphDestroy)(graph), cudaSuccess);
  SIM(cudaFree)(block);
  SIM(cudaStreamDestroy)(stream);
}

TEST(RuntimeGraphs, SynchronisingACapturingStreamSpoilsTheCapture) {
  cudaStream_t stream = nullptr;
  SIM(cudaStreamCreate)(&stream);
  SIM(cudaStreamBeginCapture)(stream, cudaStreamCaptureModeRelaxed);
  EXPECT_EQ(SIM(cudaStreamSynchronize)(stream), cudaErrorStreamCaptureUnsupported);
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  SIM(cudaStreamIsCapturing)(stream, &status);
  EXPECT_EQ(status, cudaStreamCaptureStatusInvalidated);
  cudaGraph_t graph = nullptr;
  EXPECT_EQ(SIM(cudaStreamEndCapture)(stream, &graph), cudaErrorStreamCaptureInvalidated);
  EXPECT_EQ(graph, nullptr);
  SIM(cudaStreamDestroy)(stream);
  SIM(cudaGetLastError)();
}

TEST(RuntimePools, ServeStreamOrderedAllocations) {
  const std::uint64_t free = FreeBytes();
  void* pointer = nullptr;
  ASSERT_EQ(SIM(cudaMallocAsync)(&pointer, 100 * kMebibyte, nullptr), cudaSuccess);
  cudaMemPool_t pool = nullptr;
  ASSERT_EQ(SIM(cudaDeviceGetDefaultMemPool)(&pool, 0), cudaSuccess);
  std::uint64_t used = 0, reserved = 0;
  SIM(cudaMemPoolGetAttribute)(pool, cudaMemPoolAttrUsedMemCurrent, &used);
  SIM(cudaMemPoolGetAttribute)(pool, cudaMemPoolAttrReservedMemCurrent, &reserved);
  EXPECT_EQ(used, 100 * kMebibyte);
  EXPECT_EQ(FreeBytes(), free - reserved);
  EXPECT_EQ(SIM(cudaFreeAsync)(pointer, nullptr), cudaSuccess);
  EXPECT_EQ(SIM(cudaDeviceSynchronize)(), cudaSuccess);
  EXPECT_EQ(FreeBytes(), free);
  EXPECT_EQ(SIM(cudaMallocAsync)(&pointer, 5ull << 30, nullptr), cudaErrorMemoryAllocation);
  SIM(cudaGetLastError)();
}

}  // namespace
}  // namespace memoir::simcuda
