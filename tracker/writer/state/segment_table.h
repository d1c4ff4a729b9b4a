// A table of the memory that caching allocators have reserved: segments, and the mapped parts of expandable segments.
// One thread.
#ifndef TRACKER_WRITER_STATE_SEGMENT_TABLE_H_
#define TRACKER_WRITER_STATE_SEGMENT_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "interpose/records/ring_record.h"

namespace memoir {

// torch serves small blocks from segments of at most this size (torch's kSmallBuffer), or from expandable segments that
// it maps in steps of this size.
inline constexpr std::uint64_t kMostSmallSegmentBytes = 2u << 20;

struct ReservedSegment {
  std::uint32_t device = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool small = false;  // a segment for small blocks
  DevicePlace place{};
};

class SegmentTable {
 public:
  // Limit on segments. Further segments are left out of keyframes, because the writer's memory is bounded.
  static constexpr std::size_t kMaxSegments = 16 * 1024;

  // Adds a segment. Returns the number of bytes by which the memory in the table has grown. It is less than the
  // segment's size if the segment overlaps segments in the table.
  std::uint64_t Add(const ReservedSegment& segment);
  // Removes a range of addresses, which may be any part of an expandable segment. Returns how many of its bytes were in
  // the table.
  std::uint64_t Remove(std::uint32_t device, std::uint64_t address, std::uint64_t bytes);

  std::size_t size() const { return segments_.size(); }
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& [at, segment] : segments_) visit(segment);
  }

 private:
  std::map<std::pair<std::uint32_t, std::uint64_t>, ReservedSegment> segments_;  // by device and address
};

}  // namespace memoir

#endif  // TRACKER_WRITER_STATE_SEGMENT_TABLE_H_
