#include "tracker/detail/known_numbers.h"

#include <sys/mman.h>

#include <cstddef>

namespace memoir::known_numbers {
namespace {

using Word = std::atomic<std::uint64_t>;

// A slot of the table has the high bits of a number, and in the others its index in the list plus 1. 0: it is free.
constexpr unsigned kIndexBits = 20;
constexpr std::size_t kSlots = 1u << kIndexBits;
constexpr std::size_t kSlotMask = kSlots - 1;
constexpr std::size_t kMostProbes = 64;
constexpr std::uint32_t kLookAhead = 4;  // sequences of several devices lie in the list between each other

// The low bits of a word of the list are its count; the others are those of the number. 0: there is none yet.
constexpr unsigned kCountBits = 2;
constexpr std::uint64_t kCountMask = (1u << kCountBits) - 1;

constexpr std::size_t kBytes = (kSlots + kMost) * sizeof(Word);
static_assert(kMostCounted <= kCountMask && kMost * 2 <= kSlots);

constinit Word* table = nullptr;  // mapped once, kept: hooks may run until the very end
constinit Word* list = nullptr;   // behind it
constinit std::atomic<std::uint64_t> entries{0};

bool IsAt(std::uint64_t index, std::uint64_t number) {
  const std::uint64_t word = list[index].load(std::memory_order_relaxed);
  return word != 0 && (word ^ number) >> kCountBits == 0;
}

// Of a number that follows the cursor's; nullptr: none does.
Word* FindNext(std::uint64_t number, Cursor& cursor) {
  const std::uint32_t at = cursor.load(std::memory_order_relaxed);
  for (std::uint32_t index = at + 1; index <= at + kLookAhead && index < kMost; ++index) {
    if (!IsAt(index, number)) continue;
    cursor.store(index, std::memory_order_relaxed);
    return &list[index];
  }
  return nullptr;
}

// `free`: of a number that is not there, the slot in which it would be; nullptr: there is none.
Word* Find(std::uint64_t number, Cursor& cursor, Word** free) {
  if (Word* const next = FindNext(number, cursor)) return next;
  for (std::size_t i = 0; i < kMostProbes; ++i) {
    Word& slot = table[(number + i) & kSlotMask];
    const std::uint64_t found = slot.load(std::memory_order_acquire);
    *free = &slot;
    if (found == 0) return nullptr;
    const std::uint64_t index = (found & kSlotMask) - 1;
    if (found >> kIndexBits != number >> kIndexBits || !IsAt(index, number)) continue;
    cursor.store(static_cast<std::uint32_t>(index), std::memory_order_relaxed);
    return &list[index];
  }
  *free = nullptr;
  return nullptr;
}

}  // namespace

bool Map() noexcept {
  if (table != nullptr) return true;
  void* mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return false;
  table = static_cast<Word*>(mapped);
  list = table + kSlots;
  return true;
}

void Clear() noexcept {
  madvise(table, kBytes, MADV_DONTNEED);  // reads as zero again
  entries.store(0, std::memory_order_relaxed);
}

bool IsFull() noexcept { return entries.load(std::memory_order_relaxed) >= kMost; }

std::uint32_t Times(std::uint64_t number, Cursor& cursor) noexcept {
  Word* free = nullptr;
  const Word* const word = Find(number, cursor, &free);
  return word == nullptr ? 0 : static_cast<std::uint32_t>(word->load(std::memory_order_relaxed) & kCountMask);
}

std::uint32_t Count(std::uint64_t number, Cursor& cursor) noexcept {
  Word* free = nullptr;
  if (Word* const word = Find(number, cursor, &free)) {
    const std::uint64_t counted = word->load(std::memory_order_relaxed);
    const auto times = static_cast<std::uint32_t>(counted & kCountMask);
    if (times >= kMostCounted) return times;
    word->store(counted + 1, std::memory_order_relaxed);
    return times + 1;
  }
  if (free == nullptr || IsFull()) return 0;
  const std::uint64_t index = entries.fetch_add(1, std::memory_order_relaxed);
  if (index >= kMost) return 0;
  list[index].store((number & ~kCountMask) | 1, std::memory_order_relaxed);
  std::uint64_t none = 0;
  const std::uint64_t slot = number >> kIndexBits << kIndexBits | (index + 1);
  if (!free->compare_exchange_strong(none, slot, std::memory_order_release)) {
    list[index].store(0, std::memory_order_relaxed);  // another thread took the slot: it is counted the next time
    return 0;
  }
  cursor.store(static_cast<std::uint32_t>(index), std::memory_order_relaxed);
  return 1;
}

}  // namespace memoir::known_numbers
