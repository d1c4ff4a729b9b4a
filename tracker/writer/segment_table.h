// What a caching allocator has taken from its device: segments, and of expandable ones the parts that are mapped. One
// thread.
#ifndef TRACKER_WRITER_SEGMENT_TABLE_H_
#define TRACKER_WRITER_SEGMENT_TABLE_H_

#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>

#include "interpose/ring_record.h"

namespace memoir {

// Up to this size a segment, or one step of an expandable one, is of the small pool (torch's kSmallBuffer).
inline constexpr std::uint64_t kMostSmallSegmentBytes = 2u << 20;

struct Segment {
  std::uint32_t device = 0;
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  bool small = false;
  DevicePlace place{};
};

class SegmentTable {
 public:
  // Bounded, as all that the recorder keeps: further ones are left out of keyframes.
  static constexpr std::size_t kMaxSegments = 16 * 1024;

  // Returns how many bytes more are reserved now: fewer than the segment's where it overlaps what is known.
  std::uint64_t Add(const Segment& segment);
  // Returns how many of the bytes were known. Of an expandable segment any part may go.
  std::uint64_t Remove(std::uint32_t device, std::uint64_t address, std::uint64_t bytes);

  std::size_t size() const { return segments_.size(); }
  template <typename Visit>
  void ForEach(Visit visit) const {
    for (const auto& [at, segment] : segments_) visit(segment);
  }

 private:
  std::map<std::pair<std::uint32_t, std::uint64_t>, Segment> segments_;  // by device and address
};

}  // namespace memoir

#endif  // TRACKER_WRITER_SEGMENT_TABLE_H_
