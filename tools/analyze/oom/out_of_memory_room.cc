#include "tools/analyze/oom/out_of_memory_room.h"

#include <algorithm>
#include <utility>

namespace memoir {
namespace {

// torch's constants, from c10/core/AllocatorConfig.h and CUDACachingAllocator.cpp.
constexpr std::uint64_t kMostSmall = 1u << 20;
constexpr std::uint64_t kSmallSegment = 2u << 20;
constexpr std::uint64_t kLargeSegment = 20u << 20;
constexpr std::uint64_t kLeastLarge = 10u << 20;

std::uint64_t RoundedUp(std::uint64_t bytes, std::uint64_t step) { return (bytes + step - 1) / step * step; }

// Returns the bytes that torch would reserve for a request.
std::uint64_t SegmentFor(std::uint64_t bytes, bool expandable) {
  if (bytes <= kMostSmall) return kSmallSegment;
  if (expandable) return RoundedUp(bytes, kLargeSegment);
  return bytes < kLeastLarge ? kLargeSegment : RoundedUp(bytes, kSmallSegment);
}

void AddPins(const MappedSegment& segment, const Dictionary& dictionary, Holdings::ByName& pins) {
  for (const SegmentBlock& there : segment.blocks) {
    if (there.waiting) continue;
    std::string name = OperatorHolding(there.block, dictionary);
    if (there.block.module.valid()) name += " in " + ModuleHolding(there.block, dictionary);
    HoldingRow& pin = pins[name];
    pin.name = name;
    pin.bytes += there.block.bytes;
    ++pin.blocks;
  }
}

OutOfMemoryCause CauseOf(const OutOfMemoryRoom& room, std::uint64_t asked, std::uint64_t device_free,
                         std::uint64_t reserved, std::optional<std::uint64_t> limit) {
  const bool is_fragmented = IsRealShare(room.own_free, reserved);
  if (room.own_free >= asked && is_fragmented) return OutOfMemoryCause::kFragmentation;
  if (device_free >= room.needed_segment) {
    const bool within = limit && reserved + room.needed_segment <= *limit;
    return within ? OutOfMemoryCause::kRefused : OutOfMemoryCause::kLimit;
  }
  if (is_fragmented && room.own_free + device_free >= asked) return OutOfMemoryCause::kFragmentation;
  if (IsRealShare(room.free, reserved) && room.free + device_free >= asked) return OutOfMemoryCause::kOtherPools;
  return asked > reserved + device_free ? OutOfMemoryCause::kTooLarge : OutOfMemoryCause::kFull;
}

}  // namespace

std::string_view ToString(OutOfMemoryCause cause) {
  switch (cause) {
    case OutOfMemoryCause::kFragmentation:
      return "fragmentation";
    case OutOfMemoryCause::kLimit:
      return "limit";
    case OutOfMemoryCause::kOtherPools:
      return "other_pools";
    case OutOfMemoryCause::kTooLarge:
      return "too_large";
    case OutOfMemoryCause::kRefused:
      return "refused";
    case OutOfMemoryCause::kFull:
      return "full";
  }
  return "full";
}

bool IsRealShare(std::uint64_t bytes, std::uint64_t reserved) {
  constexpr std::uint64_t kSmallestPart = 20;
  return bytes > 0 && bytes >= reserved / kSmallestPart;
}

OutOfMemoryRoom OutOfMemoryRoomFor(const ReplayState& state, const Block& asked, std::uint64_t device_free,
                                   std::optional<std::uint64_t> limit) {
  OutOfMemoryRoom room;
  room.pool = {asked.pool_graph, asked.pool_user};
  room.stream = asked.stream;
  room.small = asked.bytes <= kMostSmall;
  bool expandable = false;
  Holdings::ByName pins;
  const SegmentMap map = MapSegments(state, asked.device);
  for (const MappedSegment& segment : map.segments) {
    expandable = expandable || segment.piece.mapped;
    const std::uint64_t free = segment.piece.bytes - segment.used;
    room.free += free;
    for (const SegmentBlock& there : segment.blocks) {
      room.waiting += there.waiting ? there.block.bytes : 0;
      room.private_allocated += segment.pool().is_private() && !there.waiting ? there.block.bytes : 0;
    }
    if (segment.pool().is_private()) room.private_reserved += segment.piece.bytes;
    if (segment.pool() != room.pool) {
      room.other_pool_free += free;
    } else if (segment.piece.stream != room.stream) {
      room.other_stream_free += free;
    } else if (segment.piece.small != room.small) {
      room.other_size_free += free;
    } else {
      room.own_free += free;
      room.own_holes += segment.holes.size();
      room.largest_hole = std::max(room.largest_hole, segment.largest_hole());
      if (free > 0) AddPins(segment, state.dictionary(), pins);
    }
  }
  room.pinned_by = Sorted(pins);
  room.needed_segment = SegmentFor(asked.bytes, expandable);
  room.cause = CauseOf(room, asked.bytes, device_free, map.reserved(), limit);
  return room;
}

}  // namespace memoir
