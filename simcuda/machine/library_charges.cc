#include "simcuda/machine/library_charges.h"

#include <map>
#include <mutex>

#include "simcuda/process/mutex.h"

namespace memoir::simcuda {
namespace {

struct LibraryUse {
  int device;
  const char* library;
  std::uint64_t bytes;
};

struct LibraryObservation {
  Mutex mutex;
  LibraryObserver observer = nullptr;
  std::map<unsigned long long, LibraryUse> held;
};

constinit LazyObject<LibraryObservation> the_observation;

LibraryObservation& TheObservation() { return the_observation.Get(); }

// Reports while holding the lock, so that a new observer receives each charge exactly once.
void Report(unsigned long long id, const LibraryUse& held) {
  LibraryObservation& observed = TheObservation();
  const std::lock_guard lock(observed.mutex);
  if (held.bytes == 0) {
    observed.held.erase(id);
  } else {
    observed.held[id] = held;
  }
  if (observed.observer != nullptr) observed.observer(held.device, held.library, id, held.bytes);
}

void ReportRefused(int device, const char* library, std::uint64_t bytes) {
  LibraryObservation& observed = TheObservation();
  const std::lock_guard lock(observed.mutex);
  if (observed.observer != nullptr) observed.observer(device, library, 0, bytes);
}

}  // namespace

void ObserveLibraries(LibraryObserver observer) {
  LibraryObservation& observed = TheObservation();
  const std::lock_guard lock(observed.mutex);
  observed.observer = observer;
  for (const auto& [id, held] : observed.held) observer(held.device, held.library, id, held.bytes);
}

LibraryCharge::~LibraryCharge() {
  if (bytes_ == 0) return;
  Report(reinterpret_cast<std::uintptr_t>(this), {device_->ordinal(), library_, 0});
  device_->Refund(bytes_, BudgetHolder::kLibraries);
}

bool LibraryCharge::Add(Device& device, std::uint64_t bytes) {
  if (bytes == 0) return true;
  if (!device.Charge(bytes, BudgetHolder::kLibraries)) {
    ReportRefused(device.ordinal(), library_, bytes);
    return false;
  }
  device_ = &device;
  bytes_ += bytes;
  Report(reinterpret_cast<std::uintptr_t>(this), {device.ordinal(), library_, bytes_});
  return true;
}

}  // namespace memoir::simcuda
