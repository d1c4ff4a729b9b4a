// The share of allocated bytes without recorded operators. Bytes of repeated steps count as often as the steps repeat.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_UNSEEN_BYTES_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_UNSEEN_BYTES_H_

#include "tools/model/event/event.h"

namespace memoir {

class UnseenBytes {
 public:
  void Add(const Block& block) { (block.unseen ? unseen_bytes_ : seen_bytes_) += static_cast<double>(block.bytes); }
  void BeginRepeatGroup() {
    seen_at_cycle_ = seen_bytes_;
    unseen_at_cycle_ = unseen_bytes_;
  }
  void EndRepeatGroup() {
    seen_of_cycle_ = seen_bytes_ - seen_at_cycle_;
    unseen_of_cycle_ = unseen_bytes_ - unseen_at_cycle_;
  }
  void AddRepeats(const RepeatedEvent& event) {
    seen_bytes_ += static_cast<double>(event.times) * seen_of_cycle_;
    unseen_bytes_ += static_cast<double>(event.times) * unseen_of_cycle_;
  }
  // The share of allocated bytes without recorded operators, from 0 to 1.
  double share() const { return unseen_bytes_ == 0 ? 0 : unseen_bytes_ / (seen_bytes_ + unseen_bytes_); }

 private:
  double seen_bytes_ = 0, unseen_bytes_ = 0;  // bytes allocated with and without recorded operators
  // The same two sums when the newest repeat group began, and the bytes that one repetition of the group allocates.
  double seen_at_cycle_ = 0, unseen_at_cycle_ = 0, seen_of_cycle_ = 0, unseen_of_cycle_ = 0;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_UNSEEN_BYTES_H_
