#include "tracker/modules/address_table.h"

#include "interpose/system/spin_lock.h"

namespace memoir {
namespace {

constexpr auto kRelaxed = std::memory_order_relaxed;

std::size_t Home(std::uint64_t address) { return ((address >> 4) * 0x9e3779b97f4a7c15u) >> 48; }

std::size_t Next(std::size_t slot) { return (slot + 1) % AddressTable::kSlots; }

}  // namespace

// Returns the slot that contains `address`; if there is no such slot, the free slot for it.
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
  // Reads the address again, because another thread may have reused the slot meanwhile. Close writes the address of a
  // moved entry before its value. Set writes the value of a new entry before its address. So if `value` belongs to
  // another entry, the slot no longer has this address.
  return slot.address.load(kRelaxed) == address ? value : kUnknown;
}

bool AddressTable::Set(std::uint64_t address, std::uint32_t value) {
  const SpinLock lock(lock_);
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
  const SpinLock lock(lock_);
  const std::size_t at = Probe(address);
  const Slot& slot = slots_[at];
  if (slot.address.load(kRelaxed) == 0) return;
  if (value != kUnknown && slot.value.load(kRelaxed) != value) return;
  Close(at);
  --used_;
}

// Closes the hole that a removed entry leaves: moves later entries of the same cluster into it, so that a look-up,
// which begins at an entry's home slot, still reaches them.
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
  if (forked) lock_.store(false, kRelaxed);
  const SpinLock lock(lock_);
  for (Slot& slot : slots_) {
    if (slot.address.load(kRelaxed) != 0) slot.address.store(0, kRelaxed);
  }
  used_ = 0;
}

}  // namespace memoir
