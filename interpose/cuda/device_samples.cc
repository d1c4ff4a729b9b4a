#include "interpose/cuda/device_samples.h"

#include <atomic>

#include "interpose/cuda/driver_queries.h"
#include "interpose/cuda/driver_records.h"
#include "interpose/cuda/nvml_queries.h"
#include "interpose/cuda/sampling_thread.h"
#include "interpose/ring/ring.h"
#include "interpose/system/tick.h"

namespace memoir {
namespace {

constexpr std::uint64_t kLeastGrowth = 1u << 20;
constexpr std::uint64_t kRegularNs = 1'000'000'000;
constexpr std::uint64_t kLongestWaitNs = 2'000'000'000;  // longest wait for NVML at the end of a recording

// State of the final sample of a device (TakeFinalSamples). If NVML responds too late, the final sample has no figures
// of NVML.
enum class Last : std::uint8_t { kNone, kWanted, kTaken };

struct Device {
  std::atomic<bool> seen;     // the program has used the device (NoteDevice)
  std::atomic<bool> refused;  // an allocation was refused after the newest NVML sample
  std::atomic<bool> is_new;   // the device is in use, and has no NVML sample yet
  std::atomic<bool> due;      // a regular sample is due
  std::atomic<Last> last;
  DeviceSample last_here;              // the final sample without NVML's figures
  std::atomic<std::uint64_t> given;    // bytes of the device's live driver allocations
  std::atomic<std::uint64_t> read_at;  // allocated bytes at the newest kPeak sample
  std::atomic<std::uint64_t> total;    // cudaMemGetInfo's total; 0: not read yet
  DeviceSample regular;                // newest regular sample; used only by the sampling thread
};
constinit Device devices[kMaxCudaDevices]{};
constinit std::atomic<bool> pools_used{false};  // the program has called cudaMallocAsync or a similar function
constinit std::uint64_t last_regular_ns = 0;    // used only by the writer's thread

bool IsDevice(int device) { return device >= 0 && device < kMaxCudaDevices; }

// Returns true if the call allocates memory of the device. Returns false for calls whose memory may be on the host, and
// for calls that map another process's memory.
bool IsTakenFromDevice(DriverCall call) {
  return call != DriverCall::kMallocManaged && call != DriverCall::kIpcOpen && call != DriverCall::kHostAllocate &&
         call != DriverCall::kHostRegister;
}

// Reads cudaMemGetInfo's numbers if the device's context is current on this thread.
DeviceSample ReadHere(int device) {
  DeviceSample numbers;
  if (DeviceOfContext() != device) return numbers;
  std::uint64_t free = 0, total = 0, pool = 0;
  if (ReadFreeBytes(&free, &total)) {
    numbers.free_bytes = free;
    numbers.total_bytes = total;
    devices[device].total.store(total, std::memory_order_relaxed);
  }
  if (pools_used.load(std::memory_order_relaxed) && ReadPoolBytes(device, &pool)) numbers.pool_bytes = pool;
  return numbers;
}

// Returns `numbers` with NVML's figures added.
DeviceSample AddNvmlMemory(int device, DeviceSample numbers) {
  ReadNvmlMemory(device, &numbers);
  const std::uint64_t total = devices[device].total.load(std::memory_order_relaxed);
  if (numbers.total_bytes == kNotKnown && total != 0) numbers.total_bytes = total;
  return numbers;
}

void RaiseTo(std::atomic<std::uint64_t>* most, std::uint64_t value) {
  std::uint64_t known = most->load(std::memory_order_relaxed);
  while (known < value && !most->compare_exchange_weak(known, value, std::memory_order_relaxed)) {
  }
}

}  // namespace

void ForgetDevices() {
  for (Device& device : devices) {
    device.seen.store(false, std::memory_order_relaxed);
    device.refused.store(false, std::memory_order_relaxed);
    device.is_new.store(false, std::memory_order_relaxed);
    device.due.store(false, std::memory_order_relaxed);
    device.last.store(Last::kNone, std::memory_order_relaxed);
    device.given.store(0, std::memory_order_relaxed);
    device.read_at.store(0, std::memory_order_relaxed);
    device.total.store(0, std::memory_order_relaxed);
    device.regular = {};
  }
  pools_used.store(false, std::memory_order_relaxed);
}

void NoteAllocatedBytes(int device, DriverCall call, std::uint64_t bytes) {
  if (!IsDevice(device)) return;
  if (call == DriverCall::kMallocAsync) pools_used.store(true, std::memory_order_relaxed);
  Device& noted = devices[device];
  const bool first = !noted.seen.load(std::memory_order_relaxed);
  if (first) NoteDevice(device);
  if (!IsTakenFromDevice(call)) return;
  const std::uint64_t now = noted.given.fetch_add(bytes, std::memory_order_relaxed) + bytes;
  if (now < noted.read_at.load(std::memory_order_relaxed) + kLeastGrowth) return;
  RaiseTo(&noted.read_at, now);
  if (!first) RecordDeviceReading(ReadingCause::kPeak, device, ReadHere(device));
}

void NoteFreedBytes(int device, DriverCall call, std::uint64_t bytes) {
  if (IsDevice(device) && IsTakenFromDevice(call)) devices[device].given.fetch_sub(bytes, std::memory_order_relaxed);
}

std::uint64_t AllocatedBytes(int device) {
  return IsDevice(device) ? devices[device].given.load(std::memory_order_relaxed) : 0;
}

void NoteDevice(int device) {
  if (!IsDevice(device) || devices[device].seen.exchange(true, std::memory_order_relaxed)) return;
  IdentifyDevice(device);
  RecordDeviceReading(ReadingCause::kStart, device, ReadHere(device));
  devices[device].is_new.store(true, std::memory_order_release);
}

std::uint64_t SampleAfterRefusal(int device) {
  if (!IsDevice(device)) return kNotKnown;
  NoteDevice(device);
  const DeviceSample numbers = ReadHere(device);
  RecordDeviceReading(ReadingCause::kRefused, device, numbers);
  devices[device].refused.store(true, std::memory_order_release);
  return numbers.free_bytes;
}

void RequestDueSamples() {
  if (!RecordingEnabled() || !HasNvml()) return;
  const std::uint64_t now = MonotonicNs();
  const bool second = now - last_regular_ns >= kRegularNs;
  bool wanted = false;
  for (Device& device : devices) {
    if (!device.seen.load(std::memory_order_acquire)) continue;
    const bool fresh = device.is_new.exchange(false, std::memory_order_acq_rel);
    if (fresh || second) device.due.store(true, std::memory_order_release);
    wanted = wanted || fresh || second || device.refused.load(std::memory_order_acquire);
  }
  if (second) last_regular_ns = now;
  if (wanted) RequestSamples();
}

void TakeRequestedSamples() {
  for (int i = 0; i < kMaxCudaDevices; ++i) {
    Device& device = devices[i];
    if (!device.seen.load(std::memory_order_acquire)) continue;
    if (device.last.load(std::memory_order_acquire) == Last::kWanted) {
      const DeviceSample numbers = AddNvmlMemory(i, device.last_here);
      if (device.last.exchange(Last::kTaken, std::memory_order_acq_rel) == Last::kWanted)
        RecordDeviceReading(ReadingCause::kLast, i, numbers);
      continue;
    }
    const bool refused = device.refused.exchange(false, std::memory_order_acq_rel);
    if (!device.due.exchange(false, std::memory_order_acq_rel) && !refused) continue;
    const DeviceSample numbers = AddNvmlMemory(i, {});
    if (numbers == DeviceSample{} || (!refused && numbers == device.regular)) continue;
    // A regular sample that was requested earlier must not be recorded after the final sample.
    if (!refused && device.last.load(std::memory_order_acquire) != Last::kNone) continue;
    device.regular = numbers;
    RecordDeviceReading(refused ? ReadingCause::kRefused : ReadingCause::kRegular, i, numbers);
  }
}

void TakeFinalSamples() {
  if (!RecordingEnabled()) return;
  bool any = false;
  for (int i = 0; i < kMaxCudaDevices; ++i) {
    if (!devices[i].seen.load(std::memory_order_acquire)) continue;
    devices[i].last_here = ReadHere(i);
    devices[i].last.store(Last::kWanted, std::memory_order_release);
    any = true;
  }
  if (any && HasNvml() && RequestSamples()) AwaitSamples(kLongestWaitNs);
  for (int i = 0; i < kMaxCudaDevices; ++i) {
    if (devices[i].last.exchange(Last::kTaken, std::memory_order_acq_rel) == Last::kWanted)
      RecordDeviceReading(ReadingCause::kLast, i, devices[i].last_here);
  }
}

}  // namespace memoir
