// A value for each block of a replay, by Block::ordinal, in pages that are allocated with their first value: in a
// recording of a week most blocks are not shown.
#ifndef TOOLS_ANALYZE_CATEGORIES_BY_ORDINAL_H_
#define TOOLS_ANALYZE_CATEGORIES_BY_ORDINAL_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace memoir {

template <class Value, Value kNone>
class ByOrdinal {
 public:
  Value Of(std::uint64_t ordinal) const {
    const std::uint64_t page = ordinal / kPage;
    return page < pages_.size() && !pages_[page].empty() ? pages_[page][ordinal % kPage] : kNone;
  }
  void Set(std::uint64_t ordinal, Value value) {
    const auto page = static_cast<std::size_t>(ordinal / kPage);
    if (page >= pages_.size()) pages_.resize(page + 1);
    if (pages_[page].empty()) pages_[page].assign(kPage, kNone);
    pages_[page][ordinal % kPage] = value;
  }
  void clear() { pages_.clear(); }
  template <class Predicate>
  bool Any(const Predicate& predicate) const {
    return std::ranges::any_of(pages_, [&](const std::vector<Value>& page) {
      return std::ranges::any_of(page, [&](Value value) { return value != kNone && predicate(value); });
    });
  }
  // All that are not kNone.
  template <class Function>
  void Transform(const Function& function) {
    for (std::vector<Value>& page : pages_)
      std::ranges::transform(page, page.begin(), [&](Value value) { return value == kNone ? kNone : function(value); });
  }

 private:
  static constexpr std::size_t kPage = 4096;
  std::vector<std::vector<Value>> pages_;  // empty: of none
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_BY_ORDINAL_H_
