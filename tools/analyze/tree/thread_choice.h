// The thread that the user selected, by number or by name.
#ifndef TOOLS_ANALYZE_TREE_THREAD_CHOICE_H_
#define TOOLS_ANALYZE_TREE_THREAD_CHOICE_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/model/event/dictionary.h"

namespace memoir {

class ThreadChoice {
 public:
  explicit ThreadChoice(std::string asked) : asked_(std::move(asked)) {}  // empty: all threads

  // Returns true if the thread is selected. If one thread is selected, an event without a thread does not belong to it.
  bool IsChosen(ThreadId thread, const Dictionary& dictionary);
  // NotFound if no event belonged to a selected thread; the message lists the threads that had events.
  absl::Status CheckFound(const std::string& capture) const;

 private:
  std::string asked_;
  std::vector<std::int8_t> has_;  // by ThreadId; -1: not compared yet
  std::set<std::string> seen_;    // labels of threads
  bool any_ = false;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TREE_THREAD_CHOICE_H_
