#include "tools/analyze/pass/window/selection.h"

#include <algorithm>
#include <charconv>
#include <iterator>

#include "absl/strings/numbers.h"
#include "tools/analyze/pass/window/groupings.h"

namespace memoir {

SelectionWindow ParseRangeWindow(const std::string& text) {
  const std::size_t hash = text.rfind('#');
  if (hash == std::string::npos || hash + 1 == text.size()) return SelectionWindow::Range(text);
  const std::string digits = text.substr(hash + 1);
  std::uint64_t occurrence = 0;
  const bool all_digits = std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!all_digits || !absl::SimpleAtoi(digits, &occurrence)) return SelectionWindow::Range(text);
  return SelectionWindow::Range(text.substr(0, hash), occurrence);
}

std::optional<SelectionWindow> ParseStepsWindow(std::string_view text) {
  const char* const begin = text.data();
  const char* const end = begin + text.size();
  std::uint64_t first = 0, last = 0;
  const auto [colon, error] = std::from_chars(begin, end, first);
  if (error != std::errc() || colon == end || *colon != ':') return std::nullopt;
  const auto [rest, last_error] = std::from_chars(colon + 1, end, last);
  if (last_error != std::errc() || rest != end || last <= first) return std::nullopt;
  return SelectionWindow::Steps(first, last);
}

std::optional<GroupBy> ParseGroupBy(const std::string& text) {
  const auto* const found = std::ranges::find(kGroupings, text, &GroupingFacts::word);
  return found == std::end(kGroupings) ? std::nullopt : std::optional(found->by);
}

bool NeedsCategories(GroupBy by) { return GroupingFactsOf(by).needs_categories; }

bool NeedsStacks(GroupBy by) { return GroupingFactsOf(by).needs_stacks; }

}  // namespace memoir
