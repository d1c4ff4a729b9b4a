#include "interpose/cuda/context_watch.h"

#include <atomic>

#include "interpose/cuda/device_samples.h"
#include "interpose/cuda/driver_blocks.h"
#include "interpose/cuda/driver_queries.h"
#include "interpose/cuda/nvml_queries.h"

namespace memoir {
namespace {

// Whether each device's primary context is known to exist, so that no further call is watched for it.
constinit std::atomic<bool> primary_known[kMaxCudaDevices]{};

bool IsDevice(int device) { return device >= 0 && device < kMaxCudaDevices; }

// Rounds up to 2 MiB, because the driver allocates memory in steps of this size.
std::uint64_t RoundUpAsDriver(std::uint64_t bytes) {
  constexpr std::uint64_t kStep = 2u << 20;
  return (bytes + kStep - 1) / kStep * kStep;
}

}  // namespace

void ForgetContexts() {
  for (auto& known : primary_known) known.store(false, std::memory_order_relaxed);
}

void ForgetContextOf(int device) {
  if (IsDevice(device)) primary_known[device].store(false, std::memory_order_release);
}

void ContextWatch::Begin(int device) {
  device_ = device;
  given_before_ = AllocatedBytes(device);
  IdentifyDevice(device);
  measured_ = ReadNvmlFree(device, &free_before_);
}

ContextWatch ContextWatch::ForPrimary(int device) {
  ContextWatch watch;
  if (!IsDevice(device) || primary_known[device].load(std::memory_order_acquire)) return watch;
  const int there = HasContext(device);
  if (there == 0) watch.Begin(device);
  if (there == 1) primary_known[device].store(true, std::memory_order_release);
  return watch;
}

ContextWatch ContextWatch::ForRuntime() {
  return CurrentContext() != 0 ? ContextWatch() : ForPrimary(DeviceOfRuntime());
}

ContextWatch ContextWatch::ForAnother(int device) {
  ContextWatch watch;
  if (IsDevice(device)) watch.Begin(device);
  return watch;
}

void ContextWatch::Record(const DriverBlock& block, std::uint64_t own_bytes, const void* caller) {
  std::uint64_t free_after = 0;
  if (measured_ && ReadNvmlFree(device_, &free_after)) {
    const std::uint64_t expected = free_after + RoundUpAsDriver(own_bytes) + AllocatedBytes(device_) - given_before_;
    DriverBlock measured = block;
    measured.bytes = free_before_ - expected;
    if (free_before_ > expected) NoteBlockAllocated(measured, LibraryAt(caller));
  }
}

void ContextWatch::Settle(bool succeeded, std::uint64_t own_bytes, const void* caller) {
  if (!succeeded || device_ < 0 || HasContext(device_) != 1) return;
  // Another wrapped call, made inside this one, may have recorded the context already.
  if (primary_known[device_].exchange(true, std::memory_order_acq_rel)) return;
  const std::uint64_t context = CurrentContext();
  NoteDevice(device_);
  // Without a current context, the recorded address is the device's number plus 1, which is not the handle of any
  // context.
  const std::uint64_t address = context != 0 ? context : static_cast<std::uint64_t>(device_) + 1;
  Record({DriverCall::kContext, device_, address, 0}, own_bytes, caller);
}

void ContextWatch::SettleAnother(std::uint64_t made, const void* caller) {
  if (device_ < 0) return;
  NoteContextMade(made);
  Record({DriverCall::kContext, device_, made, 0, device_, made}, 0, caller);
}

}  // namespace memoir
