// The runtime's devices: their number, their properties, and access between them.
#include <cuda_runtime_api.h>

#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "simcuda/api/attributes.h"
#include "simcuda/api/exported.h"
#include "simcuda/api/runtime_error.h"
#include "simcuda/configuration/report_file.h"
#include "simcuda/machine/machine.h"
#include "simcuda/machine/memory_pool.h"
#include "simcuda/process/mutex.h"
#include "simcuda/process/simulation_message.h"
#include "simcuda/streams/graph_capture.h"

using memoir::simcuda::CurrentDevice;
using memoir::simcuda::Expect;
using memoir::simcuda::Return;
using memoir::simcuda::TheMachine;

namespace {

// The pairs (from, to) whose access was enabled.
struct PeerAccess {
  memoir::simcuda::Mutex mutex;
  std::set<std::pair<int, int>> enabled;
};

constinit memoir::simcuda::LazyObject<PeerAccess> peers;

PeerAccess& Peers() { return peers.Get(); }

// If the device `asked` does not exist, prints how many devices are simulated. Prints this line once, because programs
// retry, also on several threads. Prints nothing if no device is simulated, because the cause has been printed already.
void PrintHowMany(int asked) {
  static std::atomic<bool> printed{false};
  const int devices = TheMachine().devices();
  if (devices == 0 || asked < devices || printed.exchange(true)) return;
  memoir::simcuda::PrintMessage("device " + std::to_string(asked) + " was asked for, but " + std::to_string(devices) +
                                (devices == 1 ? " is simulated" : " are simulated") +
                                ", numbered from 0; simulate more (run --sim-devices, fit --devices)");
  memoir::simcuda::NoteMissingDevice(asked);
}

}  // namespace

SIMULATED cudaError_t cudaGetDeviceCount(int* count) {
  *count = TheMachine().devices();
  return Expect(*count > 0, cudaErrorNoDevice);
}

SIMULATED cudaError_t cudaGetDevice(int* device) {
  if (TheMachine().devices() == 0) return Return(cudaErrorNoDevice);
  *device = CurrentDevice();
  return cudaSuccess;
}

SIMULATED cudaError_t cudaSetDevice(int device) {
  if (!TheMachine().IsDevice(device)) {
    PrintHowMany(device);
    return Return(cudaErrorInvalidDevice);
  }
  memoir::simcuda::SetCurrentDevice(device);
  // Creates the context, as CUDA 12 and later do.
  return Expect(TheMachine().device(device).Start(), cudaErrorMemoryAllocation);
}

SIMULATED cudaError_t cudaInitDevice(int device, unsigned, unsigned) {
  if (!TheMachine().IsDevice(device)) return Return(cudaErrorInvalidDevice);
  return Expect(TheMachine().device(device).Start(), cudaErrorMemoryAllocation);
}

SIMULATED cudaError_t cudaDriverGetVersion(int* version) {
  *version = memoir::simcuda::kCudaVersion;
  return cudaSuccess;
}

SIMULATED cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = memoir::simcuda::kCudaVersion;
  return cudaSuccess;
}

SIMULATED cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device) {
  if (!TheMachine().IsDevice(device)) return Return(cudaErrorInvalidDevice);
  *value = memoir::simcuda::Attribute(TheMachine().profile(), device, attribute);
  return cudaSuccess;
}

SIMULATED cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device) {
  if (!TheMachine().IsDevice(device)) return Return(cudaErrorInvalidDevice);
  memoir::simcuda::FillProperties(TheMachine().profile(), device, *properties);
  return cudaSuccess;
}

SIMULATED cudaError_t cudaDeviceGetPCIBusId(char* text, int length, int device) {
  if (!TheMachine().IsDevice(device)) return Return(cudaErrorInvalidDevice);
  memoir::simcuda::FillBusId(device, text, length);
  return cudaSuccess;
}

SIMULATED cudaError_t cudaDeviceGetByPCIBusId(int* device, const char* text) {
  *device = memoir::simcuda::OrdinalOfBusId(text);
  return Expect(TheMachine().IsDevice(*device), cudaErrorInvalidDevice);
}

SIMULATED cudaError_t cudaDeviceGetStreamPriorityRange(int* least, int* greatest) {
  if (least != nullptr) *least = 0;
  if (greatest != nullptr) *greatest = -5;
  return cudaSuccess;
}

SIMULATED cudaError_t cudaDeviceGetLimit(std::size_t* value, cudaLimit limit) {
  *value = limit == cudaLimitStackSize ? 1024 : limit == cudaLimitMallocHeapSize ? 8u << 20 : 1u << 20;
  return cudaSuccess;
}

SIMULATED cudaError_t cudaDeviceSynchronize() {
  if (memoir::simcuda::IsRefusedByCapture()) return Return(cudaErrorStreamCaptureUnsupported);
  if (TheMachine().devices() == 0) return Return(cudaErrorNoDevice);
  if (!TheMachine().device(CurrentDevice()).Start()) return Return(cudaErrorMemoryAllocation);
  memoir::simcuda::DefaultPool(CurrentDevice()).TrimToThreshold();
  TheMachine().progress().FinishDevice(CurrentDevice());
  return cudaSuccess;
}

SIMULATED cudaError_t cudaDeviceCanAccessPeer(int* can, int device, int peer) {
  if (!TheMachine().IsDevice(device) || !TheMachine().IsDevice(peer)) return Return(cudaErrorInvalidDevice);
  *can = device != peer ? 1 : 0;
  return cudaSuccess;
}

SIMULATED cudaError_t cudaDeviceEnablePeerAccess(int peer, unsigned flags) {
  if (!TheMachine().IsDevice(peer) || peer == CurrentDevice()) return Return(cudaErrorInvalidDevice);
  if (flags != 0) return Return(cudaErrorInvalidValue);
  const std::lock_guard lock(Peers().mutex);
  return Expect(Peers().enabled.emplace(CurrentDevice(), peer).second, cudaErrorPeerAccessAlreadyEnabled);
}

SIMULATED cudaError_t cudaDeviceDisablePeerAccess(int peer) {
  const std::lock_guard lock(Peers().mutex);
  return Expect(Peers().enabled.erase({CurrentDevice(), peer}) > 0, cudaErrorPeerAccessNotEnabled);
}

SIMULATED cudaError_t cudaDeviceGetP2PAttribute(int* value, cudaDeviceP2PAttr attribute, int from, int to) {
  if (!TheMachine().IsDevice(from) || !TheMachine().IsDevice(to)) return Return(cudaErrorInvalidDevice);
  *value = attribute == cudaDevP2PAttrPerformanceRank ? 0 : 1;
  return cudaSuccess;
}
