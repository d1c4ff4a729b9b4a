#include "tools/analyze/tree/thread_choice.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace memoir {

bool ThreadChoice::IsChosen(ThreadId thread, const Dictionary& dictionary) {
  constexpr std::size_t kMostNamed = 20;
  if (asked_.empty()) return true;
  if (!thread.valid()) return false;
  if (thread.value >= has_.size()) has_.resize(thread.value + 1, -1);
  std::int8_t& has = has_[thread.value];
  if (has >= 0) return has == 1;
  const ThreadInfo& info = dictionary.thread(thread);
  const std::string number = std::to_string(info.number);
  has = asked_ == number || asked_ == info.name ? 1 : 0;
  any_ = any_ || has == 1;
  if (seen_.size() < kMostNamed) seen_.insert(info.name.empty() ? number : absl::StrCat(number, " (", info.name, ")"));
  return has == 1;
}

absl::Status ThreadChoice::CheckFound(const std::string& capture) const {
  if (asked_.empty() || any_) return absl::OkStatus();
  return absl::NotFoundError(absl::StrCat("no thread '", asked_, "' did anything in ", capture, "; there are ",
                                          seen_.empty() ? "none" : absl::StrJoin(seen_, ", ")));
}

}  // namespace memoir
