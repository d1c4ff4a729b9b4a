#include "tools/analyze/segments/segment_book.h"

#include <algorithm>
#include <iterator>
#include <limits>

namespace memoir {
namespace {

bool IsPrivate(const ReservedPiece& piece) { return PoolId{piece.pool_graph, piece.pool_user}.is_private(); }

}  // namespace

void SegmentBook::Rebuild(const ReplayState& state, DeviceId device) {
  *this = {};
  const DeviceMemory& memory = state.memory(device);
  for (const auto& [address, piece] : memory.reserved_pieces()) AddPiece(address, piece);
  state.ForEachLiveBlock([&](const Block& block) {
    if (block.device == device) AddBlock(block.address, block.bytes);
  });
  memory.ForEachWaiting([&](std::uint64_t address, std::uint64_t bytes) { AddBlock(address, bytes); });
}

void SegmentBook::AddPiece(std::uint64_t address, const ReservedPiece& piece) {
  if (piece.bytes == 0 || address + piece.bytes < address) return;
  RemovePiece(address, piece.bytes);
  pieces_[address] = piece;
  reserved_ += piece.bytes;
  if (IsPrivate(piece)) kept_ += piece.bytes;
}

void SegmentBook::RemovePiece(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + bytes;
  auto at = pieces_.upper_bound(address);
  if (at != pieces_.begin()) --at;
  while (at != pieces_.end() && at->first < end) {
    const auto [begin, whole] = *at;
    const std::uint64_t whole_end = begin + whole.bytes;
    if (whole_end <= address) {
      ++at;
      continue;
    }
    at = pieces_.erase(at);
    const std::uint64_t gone = std::min(end, whole_end) - std::max(address, begin);
    reserved_ -= gone;
    if (IsPrivate(whole)) kept_ -= gone;
    ReservedPiece rest = whole;
    rest.bytes = address - begin;
    if (begin < address) pieces_[begin] = rest;
    rest.bytes = whole_end - end;
    if (whole_end > end) pieces_[end] = rest;
  }
}

// Returns the bytes of the pages that a block touches and no block in blocks_ touches; the block itself must not be in
// blocks_. 0 in a private pool, which keeps all of its pages.
std::uint64_t SegmentBook::TouchedBy(std::uint64_t address, std::uint64_t bytes) const {
  auto piece = pieces_.upper_bound(address);
  if (piece == pieces_.begin()) return 0;
  --piece;
  if (address - piece->first >= piece->second.bytes || IsPrivate(piece->second)) return 0;
  const auto next = blocks_.lower_bound(address);
  const std::uint64_t after = next == blocks_.end() ? std::numeric_limits<std::uint64_t>::max() : next->first;
  const auto before = next == blocks_.begin() ? blocks_.end() : std::prev(next);
  return TouchedBytes(PagesOf(piece->first, piece->second), address, address + bytes,
                      before == blocks_.end() ? 0 : before->first + before->second, after);
}

void SegmentBook::AddBlock(std::uint64_t address, std::uint64_t bytes) {
  RemoveBlock(address);
  if (address + bytes < address) return;
  kept_ += TouchedBy(address, bytes);
  blocks_[address] = bytes;
  used_ += bytes;
}

void SegmentBook::RemoveBlock(std::uint64_t address) {
  const auto there = blocks_.find(address);
  if (there == blocks_.end()) return;
  const std::uint64_t bytes = there->second;
  blocks_.erase(there);
  used_ -= bytes;
  const std::uint64_t touched = TouchedBy(address, bytes);
  kept_ -= std::min(kept_, touched);
}

}  // namespace memoir
