// A value for each block of a replay, by Block::ordinal. A page of values is allocated when its first value is set,
// because an analysis of a long recording sets values for few blocks.
#ifndef TOOLS_ANALYZE_CATEGORIES_ORDINAL_TABLE_H_
#define TOOLS_ANALYZE_CATEGORIES_ORDINAL_TABLE_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace memoir {

template <class Value, Value kNone>
class OrdinalTable {
 public:
  Value At(std::uint64_t ordinal) const {
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
  bool HasAny(const Predicate& predicate) const {
    return std::ranges::any_of(pages_, [&](const std::vector<Value>& page) {
      return std::ranges::any_of(page, [&](Value value) { return value != kNone && predicate(value); });
    });
  }
  // Replaces every value other than kNone by the result of `function`.
  template <class Function>
  void Transform(const Function& function) {
    for (std::vector<Value>& page : pages_)
      std::ranges::transform(page, page.begin(), [&](Value value) { return value == kNone ? kNone : function(value); });
  }

 private:
  static constexpr std::size_t kPage = 4096;
  std::vector<std::vector<Value>> pages_;  // an empty page has no values
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_CATEGORIES_ORDINAL_TABLE_H_
