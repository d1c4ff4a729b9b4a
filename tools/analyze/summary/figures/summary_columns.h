// The columns of a summary's rows.
#ifndef TOOLS_ANALYZE_SUMMARY_FIGURES_SUMMARY_COLUMNS_H_
#define TOOLS_ANALYZE_SUMMARY_FIGURES_SUMMARY_COLUMNS_H_

#include <cstdint>

namespace memoir {

// Figures of the blocks that belong to a row, inside the window. A row "(before the window)" covers blocks that were
// live when the window began.
struct SummaryColumns {
  std::uint64_t allocations = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t deallocations = 0;
  std::uint64_t deallocated_bytes = 0;
  std::uint64_t net_blocks = 0;  // live at the window's end
  std::uint64_t net_bytes = 0;
  std::uint64_t bytes_at_peak = 0;  // at the peak of its device; a sum over devices combines peaks at different times
  std::uint64_t blocks_at_peak = 0;
  std::uint64_t temporaries = 0;  // freed before the operator call that allocated them ended
  std::uint64_t temporary_bytes = 0;
  std::uint64_t life_ns = 0;         // time from allocation to deallocation, summed over the blocks that `lives` counts
  std::uint64_t reserved_bytes = 0;  // bytes of segments that the allocator reserved for the row
  std::uint64_t lives = 0;           // deallocations at a known time; without those in evicted parts
  double mean_life_ns() const { return lives == 0 ? 0 : static_cast<double>(life_ns) / static_cast<double>(lives); }
  SummaryColumns& operator+=(const SummaryColumns& other) { return Add(other, 1); }
  // Adds `other` `times` times. All sums are modulo 2^64.
  SummaryColumns& Add(const SummaryColumns& other, std::uint64_t times);
  bool operator==(const SummaryColumns&) const = default;
};

// Sums over events in evicted parts, taken from the first remaining keyframe: for one operator, over all devices.
struct EvictedSums {
  std::uint64_t count = 0;            // calls of the operator
  std::uint64_t outermost_count = 0;  // calls that are not inside of another operator
  std::uint64_t allocations = 0;
  std::uint64_t allocated_bytes = 0;
  std::uint64_t deallocated_bytes = 0;
  EvictedSums& operator+=(const EvictedSums& other) { return Add(other, 1); }
  // Adds `other` `times` times. All sums are modulo 2^64.
  EvictedSums& Add(const EvictedSums& other, std::uint64_t times);
  bool operator==(const EvictedSums&) const = default;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_FIGURES_SUMMARY_COLUMNS_H_
