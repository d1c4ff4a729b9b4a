#include "tools/import/snapshot/allocator_history.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <limits>

namespace memoir {
namespace {

using TraceEntry = TorchSnapshot::TraceEntry;
using SegmentPieces = AllocatorHistory::SegmentPieces;

// torch's kMinBlockSize and kSmallSize, in bytes.
constexpr std::uint64_t kLeastBlock = 512;
constexpr std::uint64_t kMostSmall = 1u << 20;

std::uint64_t EndOf(std::uint64_t address, std::uint64_t bytes) {
  return address + bytes < address ? std::numeric_limits<std::uint64_t>::max() : address + bytes;
}

void Remove(SegmentPieces& pieces, std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = EndOf(address, bytes);
  auto at = pieces.upper_bound(address);
  if (at != pieces.begin()) --at;
  while (at != pieces.end() && at->first < end) {
    const auto [begin, whole] = *at;
    const std::uint64_t whole_end = EndOf(begin, whole.bytes);
    if (whole_end <= address) {
      ++at;
      continue;
    }
    at = pieces.erase(at);
    AllocatorHistory::SegmentPiece rest = whole;
    rest.bytes = address - begin;
    if (begin < address) pieces[begin] = rest;
    rest.bytes = whole_end - end;
    if (whole_end > end) pieces[end] = rest;
  }
}

void Add(SegmentPieces& pieces, const TraceEntry& entry, bool mapped) {
  Remove(pieces, entry.address, entry.bytes);
  if (entry.bytes != 0) pieces[entry.address] = {entry.bytes, entry.stream, entry.pool, mapped};
}

// Implements torch's roundup_power2_next_division.
std::uint64_t RoundedToDivision(std::uint64_t bytes, std::uint64_t divisions) {
  if (std::has_single_bit(bytes)) return bytes;
  const std::uint64_t floor = std::bit_floor(bytes);
  const std::uint64_t step = floor >> (std::bit_width(divisions) - 1);
  if (step == 0) return floor << 1;
  const std::uint64_t rounded = bytes & ~(step - 1);
  return rounded == bytes ? bytes : rounded + step;
}

}  // namespace

AllocatorHistory::AllocatorHistory(const TorchSnapshot& snapshot, std::uint32_t device)
    : snapshot_(snapshot), trace_(snapshot.traces[device]) {
  absl::flat_hash_map<std::uint64_t, Block> live;
  for (const TorchSnapshot::Segment& segment : snapshot.segments) {
    if (segment.device != device) continue;
    first_pieces_[segment.address] = {segment.bytes, segment.stream, segment.pool, segment.expandable};
    for (const TorchSnapshot::Block& block : segment.blocks) {
      if (block.state == TorchSnapshot::BlockState::kInactive) continue;
      live[block.address] = {.address = block.address,
                             .bytes = block.bytes,
                             .requested_bytes = block.requested_bytes,
                             .origin = block.origin,
                             .stream = segment.stream,
                             .pool = segment.pool,
                             .pending = block.state == TorchSnapshot::BlockState::kPendingFree,
                             .size_known = true};
    }
  }
  for (std::size_t at = trace_.size(); at-- > 0;) UndoEntry(at, live);
  pieces_ = first_pieces_;
  SetFirstBlocks(live);
}

// Changes the state after entry `at` to the state before it.
void AllocatorHistory::UndoEntry(std::size_t at, absl::flat_hash_map<std::uint64_t, Block>& live) {
  const TraceEntry& entry = trace_[at];
  switch (entry.kind) {
    case TraceKind::kAlloc: {
      const auto block = live.find(entry.address);
      if (block == live.end()) return;
      if (block->second.size_known) known_bytes_[at] = block->second.bytes;
      live.erase(block);
      return;
    }
    case TraceKind::kFreeCompleted:
    case TraceKind::kFreeRequested: {
      const auto [block, added] = live.try_emplace(entry.address);
      const bool pending = entry.kind == TraceKind::kFreeCompleted;
      if (added) {
        block->second = {
            .address = entry.address, .requested_bytes = entry.bytes, .stream = entry.stream, .pool = entry.pool};
      }
      block->second.pending = pending;
      return;
    }
    case TraceKind::kSegmentAlloc:
    case TraceKind::kSegmentMap:
      return Remove(first_pieces_, entry.address, entry.bytes);
    case TraceKind::kSegmentFree:
    case TraceKind::kSegmentUnmap:
      return Add(first_pieces_, entry, entry.kind == TraceKind::kSegmentUnmap);
    default:
      return;
  }
}

void AllocatorHistory::SetFirstBlocks(const absl::flat_hash_map<std::uint64_t, Block>& live) {
  first_blocks_.reserve(live.size());
  for (const auto& [address, block] : live) first_blocks_.push_back(block);
  std::ranges::sort(first_blocks_, {}, &Block::address);
  for (const Block& block : first_blocks_) active_[block.address] = block.bytes;
  for (Block& block : first_blocks_) {
    if (!block.size_known) block.bytes = BytesOf(block.address, block.requested_bytes);
    active_[block.address] = block.bytes;
  }
}

std::uint64_t AllocatorHistory::Rounded(std::uint64_t bytes) const {
  if (bytes < kLeastBlock) return kLeastBlock;
  constexpr int kFirst = 20;  // 1 MiB
  const auto& all = snapshot_.settings.roundup_divisions;
  const int at = std::clamp(static_cast<int>(std::bit_width(bytes)) - 1 - kFirst, 0, static_cast<int>(all.size()) - 1);
  const std::uint64_t divisions = all[static_cast<std::size_t>(at)];
  if (divisions > 1 && bytes / kLeastBlock > divisions) return RoundedToDivision(bytes, divisions);
  return bytes > std::numeric_limits<std::uint64_t>::max() - kLeastBlock
             ? bytes
             : (bytes + kLeastBlock - 1) / kLeastBlock * kLeastBlock;
}

// Returns the bytes from `address` to the next active block or the end of the reserved range. 0 if nothing is reserved
// there. May stop the search at `enough` bytes.
std::uint64_t AllocatorHistory::RoomAt(std::uint64_t address, std::uint64_t enough) const {
  auto piece = pieces_.upper_bound(address);
  if (piece == pieces_.begin()) return 0;
  --piece;
  std::uint64_t end = EndOf(piece->first, piece->second.bytes);
  if (end <= address) return 0;
  const auto next = active_.upper_bound(address);
  const std::uint64_t block = next == active_.end() ? std::numeric_limits<std::uint64_t>::max() : next->first;
  while (end < block && end - address < enough && piece->second.mapped) {
    ++piece;
    if (piece == pieces_.end() || piece->first != end || !piece->second.mapped) break;
    end = EndOf(piece->first, piece->second.bytes);
  }
  return std::min(end, block) - address;
}

std::uint64_t AllocatorHistory::BytesOf(std::uint64_t address, std::uint64_t requested) const {
  const std::uint64_t rounded = Rounded(requested);
  const bool small = rounded <= kMostSmall;
  const bool can_split =
      small || snapshot_.settings.expandable_segments || rounded < snapshot_.settings.max_split_bytes;
  const std::uint64_t most = std::numeric_limits<std::uint64_t>::max();
  // With at least this much room the allocator always splits the block, so the search for room can stop there.
  const std::uint64_t enough = can_split && rounded < most / 2 ? rounded + kMostSmall + kLeastBlock : most;
  const std::uint64_t room = RoomAt(address, enough);
  if (room <= rounded) return rounded;
  const std::uint64_t rest = room - rounded;
  const bool splits = small || snapshot_.settings.expandable_segments
                          ? rest >= kLeastBlock
                          : rounded < snapshot_.settings.max_split_bytes && rest > kMostSmall;
  return splits ? rounded : room;
}

std::uint64_t AllocatorHistory::ApplyEntry(std::size_t at) {
  const TraceEntry& entry = trace_[at];
  switch (entry.kind) {
    case TraceKind::kAlloc: {
      const auto known = known_bytes_.find(at);
      const std::uint64_t bytes = known != known_bytes_.end() ? known->second : BytesOf(entry.address, entry.bytes);
      active_[entry.address] = bytes;
      return bytes;
    }
    case TraceKind::kFreeCompleted:
      active_.erase(entry.address);
      return 0;
    case TraceKind::kSegmentAlloc:
    case TraceKind::kSegmentMap:
      Add(pieces_, entry, entry.kind == TraceKind::kSegmentMap);
      return 0;
    case TraceKind::kSegmentFree:
    case TraceKind::kSegmentUnmap:
      Remove(pieces_, entry.address, entry.bytes);
      return 0;
    default:
      return 0;
  }
}

}  // namespace memoir
