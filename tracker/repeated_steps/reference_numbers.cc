#include "tracker/repeated_steps/reference_numbers.h"

#include <sys/mman.h>

#include <cstddef>

namespace memoir::reference_numbers {
namespace {

using Word = std::atomic<std::uint64_t>;

// A slot of the table. Its high bits are the high bits of a number; its low kIndexBits bits are the number's index in
// the list plus 1. 0: the slot is free.
constexpr unsigned kIndexBits = 20;
constexpr std::size_t kSlots = 1u << kIndexBits;
constexpr std::size_t kSlotMask = kSlots - 1;
constexpr std::size_t kMostProbes = 64;
// Number of words of the list that a look-up tries. More than 1, because sequences of several devices are interleaved
// in the list.
constexpr std::uint32_t kLookAhead = 4;

// A word of the list. Its low kCountBits bits are the count of a number; the other bits are the high bits of the
// number. 0: the word is unused.
constexpr unsigned kCountBits = 2;
constexpr std::uint64_t kCountMask = (1u << kCountBits) - 1;

constexpr std::size_t kBytes = (kSlots + kMostNumbers) * sizeof(Word);
static_assert(kMostCounted <= kCountMask && kMostNumbers * 2 <= kSlots);

constinit Word* table = nullptr;  // mapped once and never freed, because hooks may run until the process ends
constinit Word* list = nullptr;   // in the same mapping, behind the table
constinit std::atomic<std::uint64_t> entries{0};

bool IsAt(std::uint64_t index, std::uint64_t number) {
  const std::uint64_t word = list[index].load(std::memory_order_relaxed);
  return word != 0 && (word ^ number) >> kCountBits == 0;
}

// Returns the word of `number` if it is one of the kLookAhead words after the cursor; otherwise nullptr.
Word* FindNext(std::uint64_t number, Cursor& cursor) {
  const std::uint32_t at = cursor.load(std::memory_order_relaxed);
  for (std::uint32_t index = at + 1; index <= at + kLookAhead && index < kMostNumbers; ++index) {
    if (!IsAt(index, number)) continue;
    cursor.store(index, std::memory_order_relaxed);
    return &list[index];
  }
  return nullptr;
}

// Returns the word of `number`. If the number is not in the table, returns nullptr, and sets *free to the slot for the
// number; nullptr if there is no free slot.
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

bool MapTable() noexcept {
  if (table != nullptr) return true;
  void* mapped = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return false;
  table = static_cast<Word*>(mapped);
  list = table + kSlots;
  return true;
}

void Clear() noexcept {
  madvise(table, kBytes, MADV_DONTNEED);  // the pages then read as zeros
  entries.store(0, std::memory_order_relaxed);
}

bool IsFull() noexcept { return entries.load(std::memory_order_relaxed) >= kMostNumbers; }

std::uint32_t TimesSeen(std::uint64_t number, Cursor& cursor) noexcept {
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
  if (index >= kMostNumbers) return 0;
  list[index].store((number & ~kCountMask) | 1, std::memory_order_relaxed);
  std::uint64_t none = 0;
  const std::uint64_t slot = number >> kIndexBits << kIndexBits | (index + 1);
  if (!free->compare_exchange_strong(none, slot, std::memory_order_release)) {
    // Another thread took the slot; this number is counted when it is seen again.
    list[index].store(0, std::memory_order_relaxed);
    return 0;
  }
  cursor.store(static_cast<std::uint32_t>(index), std::memory_order_relaxed);
  return 1;
}

}  // namespace memoir::reference_numbers
