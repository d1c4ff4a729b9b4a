// Decides whether the operators around an event of a thread are known. They are unknown while recording is off or at
// the level `memory`. With `--detail auto`, the recorder switches operators on at an allocation that no earlier step
// had. At this time, a thread may be inside an operator whose begin was not recorded. Therefore the operators of a
// thread are known again only from the begin of its next range or step.
#ifndef TOOLS_MODEL_REPLAY_STATE_OPERATOR_VISIBILITY_H_
#define TOOLS_MODEL_REPLAY_STATE_OPERATOR_VISIBILITY_H_

#include <cstdint>
#include <vector>

#include "proto/memoir/v1/capture.pb.h"
#include "tools/model/event/ids.h"

namespace memoir {

class OperatorVisibility {
 public:
  void SwitchLevel(v1::RecordingLevel level) {
    recorded_ = level == v1::LEVEL_ALL;
    ++switches_;
  }
  // Continues at the level that a keyframe shows, at the start of a replay or after evicted parts. Does not
  // undo SetSkimming.
  void ContinueAt(v1::RecordingLevel level) {
    recorded_ = level == v1::LEVEL_ALL;
    switches_ = recorded_ && !skims_ ? 0 : 1;
    ranges_at_.clear();
  }
  // Call this function when the reader begins or stops to skim. While it skims, it ignores recorded operators
  // (Chunk::is_skimmed).
  void SetSkimming(bool skims) {
    skims_ = skims;
    ++switches_;
  }
  void BeginRange(ThreadId thread) {
    if (switches_ == 0) return;
    if (thread.value >= ranges_at_.size()) ranges_at_.resize(thread.value + 1);
    ranges_at_[thread.value] = switches_;
  }
  void BeginStep(ThreadId thread) { BeginRange(thread); }  // steps begin between two operators
  bool IsVisible(ThreadId thread) const {
    if (switches_ == 0) return true;
    return recorded_ && !skims_ && thread.valid() && thread.value < ranges_at_.size() &&
           ranges_at_[thread.value] == switches_;
  }

 private:
  bool recorded_ = true, skims_ = false;
  std::uint64_t switches_ = 0;            // number of changes so far; 0: operators were visible all the time
  std::vector<std::uint64_t> ranges_at_;  // by ThreadId: `switches_` at the begin of its newest range
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_STATE_OPERATOR_VISIBILITY_H_
