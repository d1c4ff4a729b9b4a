#include "interpose/cuda/block_table.h"

#include <sys/mman.h>

#include <atomic>
#include <cstddef>

namespace memoir {
namespace {

// Pages are taken as they are touched.
constexpr std::size_t kSlots = 1u << 16;
constexpr std::size_t kTries = 64;
constexpr int kKindShift = 60;

struct Slot {
  std::atomic<std::uint64_t> key;  // 0: free
  TableEntry entry;
  std::atomic<std::uint16_t> mark;  // 0: none
  std::atomic<std::uint16_t> more;  // holds beside the first
};
static_assert(sizeof(Slot) == 32);

constinit std::atomic<Slot*> table{nullptr};

// Addresses and handles have no such high bits; where one does, it may meet another, and one of them is not recorded.
std::uint64_t KeyOf(KeyKind kind, std::uint64_t number) {
  return std::uint64_t{static_cast<std::uint8_t>(kind)} << kKindShift ^ number;
}

std::size_t FirstSlot(std::uint64_t key) {
  return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15u) >> 48) % kSlots;
}

Slot* Find(std::uint64_t key) {
  Slot* slots = table.load(std::memory_order_acquire);
  for (std::size_t i = 0; slots != nullptr && i < kTries; ++i) {
    Slot& slot = slots[(FirstSlot(key) + i) % kSlots];
    if (slot.key.load(std::memory_order_acquire) == key) return &slot;
  }
  return nullptr;
}

Slot* Claim(std::uint64_t key) {
  Slot* slots = table.load(std::memory_order_acquire);
  for (std::size_t i = 0; slots != nullptr && i < kTries; ++i) {
    Slot& slot = slots[(FirstSlot(key) + i) % kSlots];
    std::uint64_t free = 0;
    if (slot.key.compare_exchange_strong(free, key, std::memory_order_acq_rel)) return &slot;
  }
  return nullptr;
}

}  // namespace

bool ClearBlockTable() {
  Slot* slots = table.load(std::memory_order_relaxed);
  if (slots != nullptr) return madvise(slots, kSlots * sizeof(Slot), MADV_DONTNEED) == 0;
  void* memory =
      mmap(nullptr, kSlots * sizeof(Slot), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) return false;
  table.store(static_cast<Slot*>(memory), std::memory_order_release);
  return true;
}

bool PutEntry(KeyKind kind, std::uint64_t number, const TableEntry& entry) {
  const std::uint64_t key = KeyOf(kind, number);
  Slot* slot = Find(key);
  if (slot == nullptr) slot = Claim(key);
  if (slot == nullptr) return false;
  slot->entry = entry;
  slot->mark.store(0, std::memory_order_relaxed);
  slot->more.store(0, std::memory_order_relaxed);
  return true;
}

bool FindEntry(KeyKind kind, std::uint64_t number, TableEntry* entry) {
  const Slot* slot = Find(KeyOf(kind, number));
  if (slot == nullptr) return false;
  *entry = slot->entry;
  return true;
}

bool TakeEntry(KeyKind kind, std::uint64_t number, TableEntry* entry) {
  Slot* slot = Find(KeyOf(kind, number));
  if (slot == nullptr) return false;
  *entry = slot->entry;
  std::uint64_t key = KeyOf(kind, number);  // of two who take it one has it
  return slot->key.compare_exchange_strong(key, 0, std::memory_order_acq_rel);
}

bool HoldBlockMore(std::uint64_t address) {
  Slot* slot = Find(KeyOf(KeyKind::kBlock, address));
  if (slot != nullptr) slot->more.fetch_add(1, std::memory_order_acq_rel);
  return slot != nullptr;
}

bool HoldBlockLess(std::uint64_t address) {
  Slot* slot = Find(KeyOf(KeyKind::kBlock, address));
  std::uint16_t more = slot == nullptr ? std::uint16_t{0} : slot->more.load(std::memory_order_acquire);
  while (more != 0) {
    if (slot->more.compare_exchange_weak(more, static_cast<std::uint16_t>(more - 1), std::memory_order_acq_rel))
      return true;
  }
  return false;
}

void MarkBlocks(std::uint16_t mark, bool (*is_meant)(const TableEntry&, const void*), const void* of) {
  Slot* slots = table.load(std::memory_order_acquire);
  for (std::size_t i = 0; slots != nullptr && i < kSlots; ++i) {
    const std::uint64_t key = slots[i].key.load(std::memory_order_acquire);
    if (key >> kKindShift == static_cast<std::uint8_t>(KeyKind::kBlock) && is_meant(slots[i].entry, of))
      slots[i].mark.store(mark, std::memory_order_release);
  }
}

void TakeMarkedBlocks(std::uint16_t mark, std::uint64_t serial,
                      void (*visit)(std::uint64_t, const TableEntry&, std::uint64_t)) {
  Slot* slots = table.load(std::memory_order_acquire);
  for (std::size_t i = 0; slots != nullptr && i < kSlots; ++i) {
    std::uint64_t key = slots[i].key.load(std::memory_order_acquire);
    if (key == 0 || slots[i].mark.load(std::memory_order_acquire) != mark) continue;
    const TableEntry entry = slots[i].entry;
    slots[i].mark.store(0, std::memory_order_relaxed);
    if (visit != nullptr && slots[i].key.compare_exchange_strong(key, 0, std::memory_order_acq_rel))
      visit(key ^ KeyOf(KeyKind::kBlock, 0), entry, serial);
  }
}

}  // namespace memoir
