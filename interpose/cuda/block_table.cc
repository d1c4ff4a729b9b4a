#include "interpose/cuda/block_table.h"

#include <sys/mman.h>

#include <atomic>
#include <cstddef>
#include <cstring>

namespace memoir {
namespace {

// The number of slots. Pages are allocated when they are first used.
constexpr std::size_t kSlots = 1u << 16;
constexpr std::size_t kTries = 64;  // number of slots, from FirstSlot on, that may contain a key
constexpr int kKindShift = 60;

// A slot's key is set when its entry is complete; until then the slot is busy. `mark` also contains a counter that
// changes with each entry. So a thread that visits the whole table notices when an entry was replaced.
struct Slot {
  std::atomic<std::uint64_t> key;  // 0: free
  std::atomic<std::uint64_t> entry[2];
  std::atomic<std::uint32_t> mark;  // low half: the mark, 0 for none; high half: number of entries stored so far
  std::atomic<std::uint16_t> more;  // number of holds beyond the first (AddBlockHold)
};
static_assert(sizeof(Slot) == 32 && sizeof(TableEntry) == 2 * sizeof(std::uint64_t));
constexpr std::uint64_t kBusy = 1;  // in place of a key while the slot is busy
constexpr std::uint32_t kMarkBits = 16, kMark = 0xffff;

TableEntry Load(const Slot& slot) {
  const std::uint64_t words[] = {slot.entry[0].load(std::memory_order_acquire),
                                 slot.entry[1].load(std::memory_order_acquire)};
  TableEntry entry;
  std::memcpy(&entry, words, sizeof entry);
  return entry;
}

void Store(const TableEntry& entry, Slot* slot) {
  std::uint64_t words[2];
  std::memcpy(words, &entry, sizeof words);
  // The count is written before the entry. So a thread that read words of two different entries finds a different count
  // afterwards.
  const std::uint32_t count = (slot->mark.load(std::memory_order_relaxed) >> kMarkBits) + 1;
  slot->mark.store(count << kMarkBits, std::memory_order_relaxed);
  slot->more.store(0, std::memory_order_relaxed);
  slot->entry[0].store(words[0], std::memory_order_release);
  slot->entry[1].store(words[1], std::memory_order_release);
}

constinit std::atomic<Slot*> table{nullptr};

// Addresses and handles do not use the high bits that contain the kind. If a number does use them, its key may equal
// the key of another number; then only one of the two allocations is recorded.
std::uint64_t KeyOf(KeyKind kind, std::uint64_t number) {
  return std::uint64_t{static_cast<std::uint8_t>(kind)} << kKindShift ^ number;
}

std::size_t FirstSlot(std::uint64_t key) {
  return static_cast<std::size_t>((key * 0x9E3779B97F4A7C15u) >> 48) % kSlots;
}

// Returns the slot of a key. nullptr if the table does not contain the key.
Slot* Find(std::uint64_t key) {
  Slot* slots = table.load(std::memory_order_acquire);
  for (std::size_t i = 0; slots != nullptr && i < kTries; ++i) {
    Slot& slot = slots[(FirstSlot(key) + i) % kSlots];
    if (slot.key.load(std::memory_order_acquire) == key) return &slot;
  }
  return nullptr;
}

// Returns a busy slot, which the caller fills: the key's slot, or a free one. nullptr if there is no room.
Slot* Claim(std::uint64_t key) {
  Slot* known = Find(key);
  std::uint64_t expected = key;
  if (known != nullptr && known->key.compare_exchange_strong(expected, kBusy, std::memory_order_acq_rel)) return known;
  Slot* slots = table.load(std::memory_order_acquire);
  for (std::size_t i = 0; slots != nullptr && i < kTries; ++i) {
    Slot& slot = slots[(FirstSlot(key) + i) % kSlots];
    std::uint64_t free = 0;
    if (slot.key.compare_exchange_strong(free, kBusy, std::memory_order_acq_rel)) return &slot;
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
  Slot* slot = Claim(key);
  if (slot == nullptr) return false;
  Store(entry, slot);
  slot->key.store(key, std::memory_order_release);
  return true;
}

bool FindEntry(KeyKind kind, std::uint64_t number, TableEntry* entry) {
  const Slot* slot = Find(KeyOf(kind, number));
  if (slot == nullptr) return false;
  *entry = Load(*slot);
  return true;
}

bool TakeEntry(KeyKind kind, std::uint64_t number, TableEntry* entry) {
  Slot* slot = Find(KeyOf(kind, number));
  if (slot == nullptr) return false;
  *entry = Load(*slot);
  std::uint64_t key = KeyOf(kind, number);  // of two threads that take the entry, only one succeeds
  return slot->key.compare_exchange_strong(key, 0, std::memory_order_acq_rel);
}

bool AddBlockHold(std::uint64_t address) {
  Slot* slot = Find(KeyOf(KeyKind::kBlock, address));
  if (slot != nullptr) slot->more.fetch_add(1, std::memory_order_acq_rel);
  return slot != nullptr;
}

bool RemoveBlockHold(std::uint64_t address) {
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
    if (key >> kKindShift != static_cast<std::uint8_t>(KeyKind::kBlock)) continue;
    std::uint32_t seen = slots[i].mark.load(std::memory_order_acquire);
    const TableEntry entry = Load(slots[i]);
    if (slots[i].key.load(std::memory_order_acquire) != key) continue;
    if (slots[i].mark.load(std::memory_order_acquire) != seen || !is_meant(entry, of)) continue;
    slots[i].mark.compare_exchange_strong(seen, (seen & ~kMark) | mark, std::memory_order_acq_rel);
  }
}

void TakeMarkedBlocks(std::uint16_t mark, std::uint64_t serial,
                      void (*visit)(std::uint64_t, const TableEntry&, std::uint64_t)) {
  Slot* slots = table.load(std::memory_order_acquire);
  for (std::size_t i = 0; slots != nullptr && i < kSlots; ++i) {
    std::uint64_t key = slots[i].key.load(std::memory_order_acquire);
    std::uint32_t seen = slots[i].mark.load(std::memory_order_acquire);
    if (key == 0 || key == kBusy || (seen & kMark) != mark) continue;
    const TableEntry entry = Load(slots[i]);
    // If another thread has replaced the entry meanwhile, the count has changed, and this exchange fails.
    if (!slots[i].mark.compare_exchange_strong(seen, seen & ~kMark, std::memory_order_acq_rel)) continue;
    if (visit != nullptr && slots[i].key.compare_exchange_strong(key, 0, std::memory_order_acq_rel))
      visit(key ^ KeyOf(KeyKind::kBlock, 0), entry, serial);
  }
}

}  // namespace memoir
