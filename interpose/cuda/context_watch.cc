#include "interpose/cuda/context_watch.h"

#include <atomic>

#include "interpose/cuda/device_readings.h"
#include "interpose/cuda/driver_blocks.h"
#include "interpose/cuda/driver_questions.h"
#include "interpose/cuda/management.h"

namespace memoir {
namespace {

constinit std::atomic<bool> primary_known[kMaxCudaDevices]{};

bool IsDevice(int device) { return device >= 0 && device < kMaxCudaDevices; }

// The driver deals out its memory in steps of so much.
std::uint64_t Dealt(std::uint64_t bytes) {
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
  given_before_ = GivenBytes(device);
  KnowDevice(device);
  measured_ = ReadManagedFree(device, &free_before_);
}

ContextWatch ContextWatch::Primary(int device) {
  ContextWatch watch;
  if (!IsDevice(device) || primary_known[device].load(std::memory_order_acquire)) return watch;
  const int there = HasContext(device);
  if (there == 0) watch.Begin(device);
  if (there == 1) primary_known[device].store(true, std::memory_order_release);
  return watch;
}

ContextWatch ContextWatch::OfRuntime() { return CurrentContext() != 0 ? ContextWatch() : Primary(DeviceOfRuntime()); }

ContextWatch ContextWatch::Another(int device) {
  ContextWatch watch;
  if (IsDevice(device)) watch.Begin(device);
  return watch;
}

void ContextWatch::Record(const DriverBlock& block, std::uint64_t own_bytes, const void* caller) {
  std::uint64_t free_after = 0;
  if (measured_ && ReadManagedFree(device_, &free_after)) {
    const std::uint64_t expected = free_after + Dealt(own_bytes) + GivenBytes(device_) - given_before_;
    DriverBlock measured = block;
    measured.bytes = free_before_ - expected;
    if (free_before_ > expected) BlockGiven(measured, LibraryAt(caller));
  }
}

void ContextWatch::Settle(bool succeeded, std::uint64_t own_bytes, const void* caller) {
  if (!succeeded || device_ < 0 || HasContext(device_) != 1) return;
  // A call inside of this one may have seen it.
  if (primary_known[device_].exchange(true, std::memory_order_acq_rel)) return;
  const std::uint64_t context = CurrentContext();
  SeeDevice(device_);
  const std::uint64_t address = context != 0 ? context : static_cast<std::uint64_t>(device_) + 1;
  Record({DriverCall::kContext, device_, address, 0}, own_bytes, caller);
}

void ContextWatch::SettleAnother(std::uint64_t made, const void* caller) {
  if (device_ < 0) return;
  NoteContextMade(made);
  Record({DriverCall::kContext, device_, made, 0, device_, made}, 0, caller);
}

}  // namespace memoir
