// Collects consecutive chunks that have pattern rows, so that a replay takes them together and can collapse steps
// across chunks (collapsed_step_spans.h).
#ifndef TOOLS_MODEL_REPLAY_CHUNK_BATCH_H_
#define TOOLS_MODEL_REPLAY_CHUNK_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tools/model/parts/chunk_source.h"
#include "tools/model/replay/replayer.h"

namespace memoir {

class ChunkBatch {
 public:
  ChunkBatch(Replayer& replayer, bool takes_repeats) : replayer_(replayer), takes_repeats_(takes_repeats) {}

  // If `item` fits into the batch, adds it. Otherwise passes the batch to the replayer, and begins the next batch with
  // `item`. If `item` cannot begin a batch, passes it to the replayer after the batch. The item at the end of a process
  // never fits. The batch is therefore empty after each process.
  void Take(SourceItem& item);

 private:
  static constexpr std::size_t kMostChunks = 256;
  static constexpr std::uint64_t kMostBytes = 16u << 20;
  bool Fits(const SourceItem& item) const;

  Replayer& replayer_;
  const bool takes_repeats_;
  std::vector<std::shared_ptr<Chunk>> chunks_;
  std::uint64_t bytes_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_CHUNK_BATCH_H_
