#include "simcuda/contents/byte_ranges.h"

#include <algorithm>
#include <iterator>

namespace memoir::simcuda {

void ByteRanges::Add(std::uint64_t address, std::uint64_t bytes) {
  if (bytes == 0) return;
  std::uint64_t first = address, end = address + bytes;
  auto next = ranges_.upper_bound(first);
  if (next != ranges_.begin() && std::prev(next)->second >= first) --next;
  while (next != ranges_.end() && next->first <= end) {
    first = std::min(first, next->first);
    end = std::max(end, next->second);
    next = ranges_.erase(next);
  }
  ranges_.emplace_hint(next, first, end);
}

void ByteRanges::Remove(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + bytes;
  auto range = ranges_.upper_bound(address);
  if (range != ranges_.begin() && std::prev(range)->second > address) --range;
  while (range != ranges_.end() && range->first < end) {
    const std::uint64_t from = range->first, to = range->second;
    range = ranges_.erase(range);
    if (from < address) ranges_.emplace_hint(range, from, address);
    if (to > end) range = ranges_.emplace_hint(range, end, to);
  }
}

bool ByteRanges::Contains(std::uint64_t address, std::uint64_t bytes) const {
  if (bytes == 0) return true;
  const auto after = ranges_.upper_bound(address);
  return after != ranges_.begin() && std::prev(after)->second >= address + bytes;
}

std::vector<ByteRange> ByteRanges::List() const {
  std::vector<ByteRange> list;
  list.reserve(ranges_.size());
  for (const auto& [first, end] : ranges_) list.push_back({first, end - first});
  return list;
}

}  // namespace memoir::simcuda
