// The tensors of the current event: the arguments or results of a range, or the tensors that a module or an optimizer
// holds. Also visits storages that these tensors show for the first time.
#ifndef TOOLS_MODEL_REPLAY_STATE_EVENT_TENSORS_H_
#define TOOLS_MODEL_REPLAY_STATE_EVENT_TENSORS_H_

#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "tools/model/replay/state/live_blocks.h"
#include "tools/model/replay/state/replay_context.h"
#include "tools/model/replay/state/thread_replay.h"

namespace memoir {

class EventTensors {
 public:
  EventTensors(ReplayContext& context, LiveBlocks& blocks)
      : context_(context),
        blocks_(blocks),
        looks_at_tensors_(context.options().tensors || context.options().first_seen) {}

  // Prepares a chunk whose events are going to be visited.
  void Prepare(Chunk& chunk) const {
    if (looks_at_tensors_) chunk.tensor_is_known.resize(chunk.payload->tensors.size());
  }
  // Decodes the `count` tensors of the current event.
  void Decode(RunCursor& cursor, std::uint32_t count) {
    if (looks_at_tensors_) DecodeRows(cursor, count);
  }
  // The decoded tensors. Valid until the next Decode. Empty without ReplayOptions::tensors.
  absl::Span<const Tensor> tensors() const { return tensors_; }
  // Visits the storages that the decoded tensors show for the first time, if ReplayOptions::first_seen is set.
  void ShowFirstSeen(const ThreadReplay& thread, const RunCursor& cursor, bool as_result) {
    if (!rows_.empty() && context_.options().first_seen) ShowFirstSeenOfRows(thread, cursor, as_result);
  }

 private:
  Tensor TensorOf(const TensorRow& row) const;
  void DecodeRows(RunCursor& cursor, std::uint32_t count);
  void ShowFirstSeenOfRows(const ThreadReplay& thread, const RunCursor& cursor, bool as_result);

  ReplayContext& context_;
  LiveBlocks& blocks_;
  const bool looks_at_tensors_;
  std::vector<Tensor> tensors_;
  std::vector<std::uint32_t> rows_;  // rows of the tensors in the chunk's table, from 1; 0: not recorded
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_STATE_EVENT_TENSORS_H_
