// Chunks that name steps and follow one another: a replay takes them at once, so that it can pass over steps from one
// into the next (repeat_skips.h).
#ifndef TOOLS_MODEL_CHUNK_BATCH_H_
#define TOOLS_MODEL_CHUNK_BATCH_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tools/model/chunk_source.h"
#include "tools/model/replayer.h"

namespace memoir {

class ChunkBatch {
 public:
  ChunkBatch(Replayer& replayer, bool takes_repeats) : replayer_(replayer), takes_repeats_(takes_repeats) {}

  // To the replay, with what waits before it, or into the batch. A process's end lets nothing wait.
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

#endif  // TOOLS_MODEL_CHUNK_BATCH_H_
