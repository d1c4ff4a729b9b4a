// A value for each thread of a process, made when the thread is first looked up.
#ifndef TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_THREAD_TABLE_H_
#define TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_THREAD_TABLE_H_

#include <vector>

#include "tools/model/event/ids.h"

namespace memoir {

template <class Value>
class ThreadTable {
 public:
  // The reference is valid until another thread is looked up.
  Value& Of(ThreadId thread) {
    if (thread.value >= values_.size()) values_.resize(thread.value + 1);
    return values_[thread.value];
  }
  const std::vector<Value>& values() const { return values_; }  // by ThreadId
  void clear() { values_.clear(); }

 private:
  std::vector<Value> values_;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_EVIDENCE_STATE_THREAD_TABLE_H_
