// Of which threads an operator that runs is seen. Recording may be off, or of memory alone; and where operators come
// back in the middle of one (an allocation that no step before had, `--detail auto`), its begin was not recorded: what
// its thread allocates until the next range begins has no operator that is known.
#ifndef TOOLS_MODEL_OPERATOR_SIGHT_H_
#define TOOLS_MODEL_OPERATOR_SIGHT_H_

#include <cstdint>
#include <vector>

#include "proto/memoir/v1/capture.pb.h"
#include "tools/model/ids.h"

namespace memoir {

class OperatorSight {
 public:
  void Switch(v1::RecordingLevel level) {
    recorded_ = level == v1::LEVEL_ALL;
    ++switches_;
  }
  // What came before is gone; whether the reader takes memory alone stays.
  void GoOnAt(v1::RecordingLevel level) {
    recorded_ = level == v1::LEVEL_ALL;
    switches_ = recorded_ && !skims_ ? 0 : 1;
    ranges_at_.clear();
  }
  // The reader itself takes memory alone of a chunk.
  void Skim(bool skims) {
    skims_ = skims;
    ++switches_;
  }
  void RangeBegins(ThreadId thread) {
    if (switches_ == 0) return;
    if (thread.value >= ranges_at_.size()) ranges_at_.resize(thread.value + 1);
    ranges_at_[thread.value] = switches_;
  }
  void StepBegins(ThreadId thread) { RangeBegins(thread); }  // between two operators
  bool Sees(ThreadId thread) const {
    if (switches_ == 0) return true;
    return recorded_ && !skims_ && thread.valid() && thread.value < ranges_at_.size() &&
           ranges_at_[thread.value] == switches_;
  }

 private:
  bool recorded_ = true, skims_ = false;
  std::uint64_t switches_ = 0;
  std::vector<std::uint64_t> ranges_at_;  // by ThreadId: of its newest range, how many switches came before
};

}  // namespace memoir

#endif  // TOOLS_MODEL_OPERATOR_SIGHT_H_
