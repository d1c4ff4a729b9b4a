#include "tools/analyze/summary/figures/summary_columns.h"

namespace memoir {

SummaryColumns& SummaryColumns::Add(const SummaryColumns& other, std::uint64_t times) {
  allocations += times * other.allocations;
  allocated_bytes += times * other.allocated_bytes;
  deallocations += times * other.deallocations;
  deallocated_bytes += times * other.deallocated_bytes;
  net_blocks += times * other.net_blocks;
  net_bytes += times * other.net_bytes;
  bytes_at_peak += times * other.bytes_at_peak;
  blocks_at_peak += times * other.blocks_at_peak;
  temporaries += times * other.temporaries;
  temporary_bytes += times * other.temporary_bytes;
  life_ns += times * other.life_ns;
  lives += times * other.lives;
  reserved_bytes += times * other.reserved_bytes;
  return *this;
}

EvictedSums& EvictedSums::Add(const EvictedSums& other, std::uint64_t times) {
  count += times * other.count;
  outermost_count += times * other.outermost_count;
  allocations += times * other.allocations;
  allocated_bytes += times * other.allocated_bytes;
  deallocated_bytes += times * other.deallocated_bytes;
  return *this;
}

}  // namespace memoir
