#include "tools/analyze/compare/facts/reserved_book.h"

#include <algorithm>
#include <iterator>

namespace memoir {
namespace {

bool Overlap(std::uint64_t address, std::uint64_t bytes, std::uint64_t other, std::uint64_t other_bytes) {
  return address < other + other_bytes && other < address + bytes;
}

}  // namespace

std::string ToString(ReservedPlace place) {
  switch (place) {
    case ReservedPlace::kDefault:
      return "";
    case ReservedPlace::kOtherStream:
      return "another stream";
    case ReservedPlace::kGraphPool:
      return "pool of a CUDA graph";
    case ReservedPlace::kMemPool:
      return "MemPool";
  }
  return "";
}

ReservedPlace PlaceOf(const Block& block) {
  if (block.pool_user != 0) return ReservedPlace::kMemPool;
  if (block.pool_graph != 0) return ReservedPlace::kGraphPool;
  return block.stream == 0 ? ReservedPlace::kDefault : ReservedPlace::kOtherStream;
}

void ReservedBook::Grow(const Block& segment, const ReservedKey& key) {
  const std::size_t taken = keys_.size();
  keys_.push_back(key);
  Shrink(segment.address, segment.bytes);  // removes pieces whose free was not recorded
  pieces_[segment.address] = {taken, segment.bytes};
  changes_.push_back({taken, static_cast<std::int64_t>(segment.bytes)});
  awaiting_.emplace_back(segment, taken);
}

void ReservedBook::Keep(std::uint64_t address, const Piece& piece) {
  if (piece.bytes > 0) pieces_[address] = piece;
}

void ReservedBook::Shrink(std::uint64_t address, std::uint64_t bytes) {
  const std::uint64_t end = address + bytes;
  std::erase_if(awaiting_, [&](const auto& awaiting) {
    return Overlap(address, bytes, awaiting.first.address, awaiting.first.bytes);
  });
  auto at = pieces_.lower_bound(address);
  if (at != pieces_.begin() && std::prev(at)->first + std::prev(at)->second.bytes > address) --at;
  while (at != pieces_.end() && at->first < end) {
    const auto [begin, piece] = *at;
    const std::uint64_t piece_end = begin + piece.bytes;
    at = pieces_.erase(at);
    const std::uint64_t cut = std::min(end, piece_end) - std::max(begin, address);
    changes_.push_back({piece.taken, -static_cast<std::int64_t>(cut)});
    // An expandable segment may be unmapped in part. The rest stays reserved.
    if (begin < address) Keep(begin, {piece.taken, address - begin});
    if (piece_end > end) Keep(end, {piece.taken, piece_end - end});
  }
}

void ReservedBook::TakeFor(const Block& block, const ReservedKey& key) {
  std::erase_if(awaiting_, [&](const auto& awaiting) {
    const bool inside = Overlap(block.address, block.bytes, awaiting.first.address, awaiting.first.bytes);
    if (inside) keys_[awaiting.second] = key;
    return inside;
  });
}

void ReservedBook::NoteReserved(std::uint64_t reserved) {
  if (reserved <= peak_) return;
  peak_ = reserved;
  changes_at_peak_ = changes_.size();
}

std::map<ReservedKey, std::uint64_t> ReservedBook::AtPeak() const {
  std::map<ReservedKey, std::int64_t> sums;
  for (std::size_t i = 0; i < changes_at_peak_; ++i) sums[keys_[changes_[i].taken]] += changes_[i].bytes;
  std::map<ReservedKey, std::uint64_t> positive;
  for (const auto& [key, bytes] : sums) {
    if (bytes > 0) positive[key] = static_cast<std::uint64_t>(bytes);
  }
  return positive;
}

}  // namespace memoir
