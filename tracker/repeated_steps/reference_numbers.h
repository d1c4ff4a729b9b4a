// Counts how many steps began with the same allocations. The allocations from a step mark up to one allocation are
// represented by their hash, which is called a number (repeated_steps.h). Only steps that are recorded with all their
// operators are counted.
//
//     hash table    number ─► index in the list
//     list          numbers in the order in which they were first seen, each with its count
//
// The numbers of a repeated step are looked up in the order in which they are in the list. So a look-up first tries the
// next words of the list, which lie in a few cache lines. If the number is not there, the look-up uses the hash table,
// which spans megabytes.
//
// Fixed size. Only the session calls MapTable and Clear. Any thread may call the other functions, which take no lock
// and do not allocate.
#ifndef TRACKER_REPEATED_STEPS_REFERENCE_NUMBERS_H_
#define TRACKER_REPEATED_STEPS_REFERENCE_NUMBERS_H_

#include <atomic>
#include <cstdint>

namespace memoir::reference_numbers {

inline constexpr std::uint32_t kMostCounted = 3;  // counts stop at this value
inline constexpr std::uint64_t kMostNumbers = 1u << 19;

// The index in the list of the number that was looked up last for one sequence of allocations (repeated_steps.h).
using Cursor = std::atomic<std::uint32_t>;

bool MapTable() noexcept;  // maps 12 MiB of addresses at the first call; false: no memory
void Clear() noexcept;     // removes all numbers
bool IsFull() noexcept;

// Returns how often the number was counted (0: never). Moves the cursor to the number if the list contains it.
std::uint32_t TimesSeen(std::uint64_t number, Cursor& cursor) noexcept;
// Counts the number once more. Returns the count, at most kMostCounted; 0 if the list is full.
std::uint32_t Count(std::uint64_t number, Cursor& cursor) noexcept;

}  // namespace memoir::reference_numbers

#endif  // TRACKER_REPEATED_STEPS_REFERENCE_NUMBERS_H_
