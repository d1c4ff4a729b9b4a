#include "interpose/simcuda/library_charges.h"

#include <map>
#include <mutex>

#include "interpose/simcuda/mutex.h"

namespace memoir::simcuda {
namespace {

struct Held {
  int device;
  const char* library;
  std::uint64_t bytes;
};

struct Observed {
  Mutex mutex;
  LibraryObserver observer = nullptr;
  std::map<unsigned long long, Held> held;
};

constinit MadeOnce<Observed> the_observed;

Observed& TheObserved() { return the_observed.Get(); }

// Under the lock, so that whoever begins to observe misses and doubles nothing.
void Tell(unsigned long long id, const Held& held) {
  Observed& observed = TheObserved();
  const std::lock_guard lock(observed.mutex);
  if (held.bytes == 0) {
    observed.held.erase(id);
  } else {
    observed.held[id] = held;
  }
  if (observed.observer != nullptr) observed.observer(held.device, held.library, id, held.bytes);
}

void TellRefused(int device, const char* library, std::uint64_t bytes) {
  Observed& observed = TheObserved();
  const std::lock_guard lock(observed.mutex);
  if (observed.observer != nullptr) observed.observer(device, library, 0, bytes);
}

}  // namespace

void ObserveLibraries(LibraryObserver observer) {
  Observed& observed = TheObserved();
  const std::lock_guard lock(observed.mutex);
  observed.observer = observer;
  for (const auto& [id, held] : observed.held) observer(held.device, held.library, id, held.bytes);
}

LibraryCharge::~LibraryCharge() {
  if (bytes_ == 0) return;
  Tell(reinterpret_cast<std::uintptr_t>(this), {device_->ordinal(), library_, 0});
  device_->Refund(bytes_, Holder::kLibraries);
}

bool LibraryCharge::Add(Device& device, std::uint64_t bytes) {
  if (bytes == 0) return true;
  if (!device.Charge(bytes, Holder::kLibraries)) {
    TellRefused(device.ordinal(), library_, bytes);
    return false;
  }
  device_ = &device;
  bytes_ += bytes;
  Tell(reinterpret_cast<std::uintptr_t>(this), {device.ordinal(), library_, bytes_});
  return true;
}

}  // namespace memoir::simcuda
