#include "tools/model/chunk_batch.h"

#include <utility>

namespace memoir {

void ChunkBatch::Take(SourceItem& item) {
  if (!chunks_.empty() && !Fits(item)) {
    replayer_.TakeChunks(std::exchange(chunks_, {}));
    bytes_ = 0;
  }
  if (!Fits(item)) return replayer_.Take(item);
  bytes_ += item.chunk->payload->memory();
  chunks_.push_back(std::move(item.chunk));
}

// With what waits, or as the first.
bool ChunkBatch::Fits(const SourceItem& item) const {
  if (!takes_repeats_ || item.kind != SourceItem::Kind::kChunk) return false;
  const Payload& payload = *item.chunk->payload;
  if (payload.repeats.rows.empty()) return false;
  const bool begins_anew = !payload.keyframe.empty() || item.chunk->part_begins;
  return chunks_.empty() || (!begins_anew && chunks_.size() < kMostChunks && bytes_ + payload.memory() <= kMostBytes);
}

}  // namespace memoir
