// The one thread that a question is about, by its number or its name.
#ifndef TOOLS_ANALYZE_TREE_THREAD_CHOICE_H_
#define TOOLS_ANALYZE_TREE_THREAD_CHOICE_H_

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "tools/model/dictionary.h"

namespace memoir {

class ThreadChoice {
 public:
  explicit ThreadChoice(std::string asked) : asked_(std::move(asked)) {}  // "": all of them

  // An event without a thread is of none that was asked for.
  bool Has(ThreadId thread, const Dictionary& dictionary);
  // NotFound, with those that there are, where none of those that were looked at was it.
  absl::Status Found(const std::string& capture) const;

 private:
  std::string asked_;
  std::vector<std::int8_t> has_;  // by ThreadId; -1: not looked at yet
  std::set<std::string> seen_;    // in words
  bool any_ = false;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_TREE_THREAD_CHOICE_H_
