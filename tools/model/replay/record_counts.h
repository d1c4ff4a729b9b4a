// Counts the records of each thread, and finds records that are missing or that a capture contains twice. Runs and
// pattern rows are counted when their chunk is read, before their events are visited. Chunks contain the records of a
// thread in their order.
#ifndef TOOLS_MODEL_REPLAY_RECORD_COUNTS_H_
#define TOOLS_MODEL_REPLAY_RECORD_COUNTS_H_

#include "tools/model/replay/state/shared_replay_state.h"

namespace memoir {

class RecordCounts {
 public:
  explicit RecordCounts(SharedReplayState& shared) : context_(shared.context), threads_(shared.threads) {}

  void BeginProcess() { passed_evicted_ = false; }
  // Counts the records of a run. Sets was_shown and lost_records of its cursor.
  void CountRun(ThreadReplay& thread, RunCursor& cursor);
  // Counts the records that the pattern rows of a chunk represent.
  void CountPatternRows(const Payload& payload);
  // Call this function where parts were evicted. The records that are missing there do not count as lost.
  void PassEvicted();

 private:
  ReplayContext& context_;
  ReplayThreads& threads_;
  bool passed_evicted_ = false;  // parts of the process were evicted before the current chunk
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_RECORD_COUNTS_H_
