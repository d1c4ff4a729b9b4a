#include "tools/analyze/segments/segment_map.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace memoir {
namespace {

// torch's kSmallBuffer and kLargeBuffer: the units in which expandable segments are mapped.
constexpr std::uint64_t kSmallPage = 2u << 20;
constexpr std::uint64_t kLargePage = 20u << 20;
constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

bool Continues(const MappedSegment& segment, std::uint64_t address, const ReservedPiece& piece) {
  const ReservedPiece& before = segment.piece;
  return before.mapped && piece.mapped && segment.address + before.bytes == address && before.stream == piece.stream &&
         before.pool_graph == piece.pool_graph && before.pool_user == piece.pool_user && before.small == piece.small;
}

std::vector<MappedSegment> SegmentsOf(const DeviceMemory& memory) {
  std::vector<MappedSegment> segments;
  for (const auto& [address, piece] : memory.reserved_pieces()) {
    if (!segments.empty() && Continues(segments.back(), address, piece)) {
      segments.back().piece.bytes += piece.bytes;
      continue;
    }
    MappedSegment segment;
    segment.address = address;
    segment.piece = piece;
    segments.push_back(std::move(segment));
  }
  return segments;
}

void AddBlock(std::vector<MappedSegment>& segments, const Block& block, bool waiting) {
  auto after = std::ranges::upper_bound(segments, block.address, {}, &MappedSegment::address);
  if (after == segments.begin()) return;
  MappedSegment& segment = *--after;
  if (block.address - segment.address >= segment.piece.bytes) return;  // the event of its segment was lost
  segment.blocks.push_back({block, waiting});
}

// During the event of its deallocation, a block is both live and waiting. Such a block counts as waiting.
void SortBlocks(std::vector<SegmentBlock>& blocks) {
  std::ranges::sort(blocks, {},
                    [](const SegmentBlock& there) { return std::pair(there.block.address, !there.waiting); });
  const auto again = std::ranges::unique(blocks, {}, [](const SegmentBlock& there) { return there.block.address; });
  blocks.erase(again.begin(), again.end());
}

void FindHoles(MappedSegment& segment) {
  const std::uint64_t end = segment.address + segment.piece.bytes;
  std::uint64_t at = segment.address;
  for (const SegmentBlock& there : segment.blocks) {
    const std::uint64_t begin = there.block.address;
    if (begin > at) segment.holes.push_back({at, begin - at});
    const std::uint64_t stop = begin + std::min(there.block.bytes, end - begin);
    if (stop <= at) continue;  // blocks overlap in a damaged capture
    segment.used += stop - std::max(at, begin);
    at = stop;
  }
  if (end > at) segment.holes.push_back({at, end - at});
}

void FindUnusable(MappedSegment& segment) {
  std::uint64_t touched = 0;
  const Pages pages = PagesOf(segment.address, segment.piece);
  for (std::size_t i = 0; i < segment.blocks.size(); ++i) {
    const Block& block = segment.blocks[i].block;
    const Block* before = i == 0 ? nullptr : &segment.blocks[i - 1].block;
    touched += TouchedBytes(pages, block.address, block.address + block.bytes,
                            before == nullptr ? 0 : before->address + before->bytes, kNone);
  }
  const std::uint64_t kept = segment.pool().is_private() ? segment.piece.bytes : touched;
  segment.unusable = kept - std::min(kept, segment.used);
}

template <class Number>
std::uint64_t Sum(const std::vector<MappedSegment>& segments, Number number) {
  std::uint64_t sum = 0;
  for (const MappedSegment& segment : segments) sum += number(segment);
  return sum;
}

}  // namespace

Pages PagesOf(std::uint64_t address, const ReservedPiece& piece) {
  const std::uint64_t end = address + piece.bytes;
  if (!piece.mapped) return {address, piece.bytes, false, end};
  return {address, !piece.small && piece.bytes % kLargePage == 0 ? kLargePage : kSmallPage, true, end};
}

std::uint64_t TouchedBytes(const Pages& pages, std::uint64_t begin, std::uint64_t end, std::uint64_t before,
                           std::uint64_t after) {
  const auto floor = [&](std::uint64_t at) {
    if (at >= pages.begin) return pages.begin + (at - pages.begin) / pages.bytes * pages.bytes;
    return pages.begin - std::min(pages.begin, (pages.begin - at + pages.bytes - 1) / pages.bytes * pages.bytes);
  };
  const auto ceiling = [&](std::uint64_t at) {
    const std::uint64_t down = floor(at);
    return down == at || down > kNone - pages.bytes ? down : down + pages.bytes;
  };
  std::uint64_t from = std::max(floor(begin), ceiling(before));
  std::uint64_t to = std::min(ceiling(end), floor(after));
  if (!pages.contiguous) from = std::max(from, pages.begin);
  if (!pages.contiguous) to = std::min(to, pages.end);
  return to > from ? to - from : 0;
}

std::uint64_t MappedSegment::largest_hole() const {
  const auto largest = std::ranges::max_element(holes, {}, &Hole::bytes);
  return largest == holes.end() ? 0 : largest->bytes;
}

std::uint64_t SegmentMap::reserved() const {
  return Sum(segments, [](const MappedSegment& segment) { return segment.piece.bytes; });
}

std::uint64_t SegmentMap::used() const {
  return Sum(segments, [](const MappedSegment& segment) { return segment.used; });
}

std::uint64_t SegmentMap::unusable() const {
  return Sum(segments, [](const MappedSegment& segment) { return segment.unusable; });
}

SegmentMap MapSegments(const ReplayState& state, DeviceId device) {
  SegmentMap map;
  const DeviceMemory& memory = state.memory(device);
  map.segments = SegmentsOf(memory);
  state.ForEachLiveBlock([&](const Block& block) {
    if (block.device == device) AddBlock(map.segments, block, false);
  });
  memory.ForEachWaiting([&](std::uint64_t address, std::uint64_t bytes) {
    Block block;
    block.address = address;
    block.bytes = bytes;
    block.device = device;
    AddBlock(map.segments, block, true);
  });
  for (MappedSegment& segment : map.segments) {
    SortBlocks(segment.blocks);
    FindHoles(segment);
    FindUnusable(segment);
  }
  return map;
}

}  // namespace memoir
