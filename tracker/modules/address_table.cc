#include "tracker/modules/address_table.h"

#include <sched.h>

namespace memoir {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

class Lock {
 public:
  explicit Lock(std::atomic_flag* flag) : flag_(*flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) sched_yield();
  }
  ~Lock() { flag_.clear(std::memory_order_release); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  std::atomic_flag& flag_;
};

std::size_t Home(std::uint64_t address) { return ((address >> 4) * 0x9e3779b97f4a7c15u) >> 48; }

std::size_t Next(std::size_t slot) { return (slot + 1) % AddressTable::kSlots; }

}  // namespace

// Where the address is, or the free slot where it belongs.
std::size_t AddressTable::Probe(std::uint64_t address) const {
  std::size_t at = Home(address);
  for (;; at = Next(at)) {
    const std::uint64_t found = slots_[at].address.load(std::memory_order_acquire);
    if (found == address || found == 0) return at;
  }
}

std::uint32_t AddressTable::Find(std::uint64_t address) const {
  const Slot& slot = slots_[Probe(address)];
  if (slot.address.load(std::memory_order_acquire) != address) return kUnknown;
  const std::uint32_t value = slot.value.load(std::memory_order_acquire);
  // Again: another thread may have put something else here in between. Its value came after its address (Close), or
  // after the slot was free (Set).
  return slot.address.load(kRelaxed) == address ? value : kUnknown;
}

bool AddressTable::Set(std::uint64_t address, std::uint32_t value) {
  const Lock lock(&lock_);
  Slot& slot = slots_[Probe(address)];
  if (slot.address.load(kRelaxed) == 0 && used_++ == kMost) {
    --used_;
    return false;
  }
  slot.value.store(value, std::memory_order_release);
  slot.address.store(address, std::memory_order_release);
  return true;
}

void AddressTable::Forget(std::uint64_t address, std::uint32_t value) {
  const Lock lock(&lock_);
  const std::size_t at = Probe(address);
  const Slot& slot = slots_[at];
  if (slot.address.load(kRelaxed) == 0) return;
  if (value != kUnknown && slot.value.load(kRelaxed) != value) return;
  Close(at);
  --used_;
}

// Moves later entries of the same cluster forward, so that no gap cuts them off from their home.
void AddressTable::Close(std::size_t hole) {
  for (std::size_t at = Next(hole);; at = Next(at)) {
    const std::uint64_t address = slots_[at].address.load(kRelaxed);
    if (address == 0) break;
    const std::size_t distance = (at - Home(address)) % kSlots;
    if (distance < (at - hole) % kSlots) continue;
    slots_[hole].value.store(kUnknown, std::memory_order_release);
    slots_[hole].address.store(address, std::memory_order_release);
    slots_[hole].value.store(slots_[at].value.load(kRelaxed), std::memory_order_release);
    hole = at;
  }
  slots_[hole].address.store(0, std::memory_order_release);
}

void AddressTable::Clear(bool forked) {
  if (forked) lock_.clear();
  const Lock lock(&lock_);
  for (Slot& slot : slots_) {
    if (slot.address.load(kRelaxed) != 0) slot.address.store(0, kRelaxed);
  }
  used_ = 0;
}

}  // namespace memoir
