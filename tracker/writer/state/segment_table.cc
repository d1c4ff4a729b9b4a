#include "tracker/writer/state/segment_table.h"

#include <algorithm>

namespace memoir {

std::uint64_t SegmentTable::Add(const ReservedSegment& segment) {
  if (segment.bytes == 0 || segment.address + segment.bytes < segment.address) return 0;
  const std::uint64_t known = Remove(segment.device, segment.address, segment.bytes);
  if (segments_.size() >= kMaxSegments) return 0 - known;
  segments_[{segment.device, segment.address}] = segment;
  return segment.bytes - known;
}

std::uint64_t SegmentTable::Remove(std::uint32_t device, std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + bytes;
  std::uint64_t removed = 0;
  auto at = segments_.upper_bound({device, address});
  if (at != segments_.begin()) --at;
  while (at != segments_.end() && at->first.first <= device && (at->first.first < device || at->first.second < end)) {
    const ReservedSegment whole = at->second;
    const std::uint64_t whole_end = whole.address + whole.bytes;
    if (whole.device != device || whole_end <= address) {
      ++at;
      continue;
    }
    at = segments_.erase(at);
    removed += std::min(end, whole_end) - std::max(address, whole.address);
    ReservedSegment rest = whole;
    if (whole.address < address) {
      rest.bytes = address - whole.address;
      segments_[{device, rest.address}] = rest;
    }
    if (whole_end <= end) continue;
    rest.address = end;
    rest.bytes = whole_end - end;
    at = segments_.insert_or_assign({device, end}, rest).first;
    break;
  }
  return removed;
}

}  // namespace memoir
