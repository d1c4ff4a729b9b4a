// The numbers of allocations that were seen in steps recorded in full, and how often: known_steps.h says of what.
//
//     hash table    number ─► its place in the list
//     list          numbers in the order in which they were first seen, each with its count
//
// A step that is known has its numbers one behind the other in the list. So whoever follows one looks there first, in
// a few lines of the cache, and the table, where they lie anywhere in megabytes, is for what comes out of turn.
//
// Fixed size. All but Map and Clear are any thread's, and neither lock nor allocate.
#ifndef TRACKER_DETAIL_KNOWN_NUMBERS_H_
#define TRACKER_DETAIL_KNOWN_NUMBERS_H_

#include <atomic>
#include <cstdint>

namespace memoir::known_numbers {

inline constexpr std::uint32_t kMostCounted = 3;
inline constexpr std::uint64_t kMost = 1u << 19;

// Where a sequence of numbers is in the list.
using Cursor = std::atomic<std::uint32_t>;

bool Map() noexcept;    // once, 12 MiB of addresses; false: no memory
void Clear() noexcept;  // all are forgotten
bool IsFull() noexcept;

// How often the number was seen; 0: never. The cursor moves on to it.
std::uint32_t Times(std::uint64_t number, Cursor& cursor) noexcept;
// The same, this time included; where the list is full 0. Counts up to kMostCounted.
std::uint32_t Count(std::uint64_t number, Cursor& cursor) noexcept;

}  // namespace memoir::known_numbers

#endif  // TRACKER_DETAIL_KNOWN_NUMBERS_H_
