#include "tools/model/replay/chunk_batch.h"

#include <utility>

namespace memoir {

void ChunkBatch::Take(SourceItem& item) {
  if (!chunks_.empty() && !Fits(item)) {
    replayer_.TakeChunks(std::exchange(chunks_, {}));
    bytes_ = 0;
  }
  if (!Fits(item)) return replayer_.Take(item);
  bytes_ += item.chunk->payload->memory_bytes();
  chunks_.push_back(std::move(item.chunk));
}

// Returns true if `item` can be added to the batch. If the visitor takes repeats, an empty batch accepts any chunk with
// pattern rows.
bool ChunkBatch::Fits(const SourceItem& item) const {
  if (!takes_repeats_ || item.kind != SourceItem::Kind::kChunk) return false;
  const Payload& payload = *item.chunk->payload;
  if (payload.pattern_rows.rows.empty()) return false;
  const bool begins_anew = !payload.keyframe.empty() || item.chunk->part_begins;
  return chunks_.empty() ||
         (!begins_anew && chunks_.size() < kMostChunks && bytes_ + payload.memory_bytes() <= kMostBytes);
}

}  // namespace memoir
