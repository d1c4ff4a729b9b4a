#include "tools/analyze/pass/options.h"

#include <algorithm>
#include <charconv>

#include "absl/strings/numbers.h"

namespace memoir {

Window ParseRangeWindow(const std::string& text) {
  const std::size_t hash = text.rfind('#');
  if (hash == std::string::npos || hash + 1 == text.size()) return Window::Range(text);
  const std::string digits = text.substr(hash + 1);
  std::uint64_t occurrence = 0;
  const bool all_digits = std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  if (!all_digits || !absl::SimpleAtoi(digits, &occurrence)) return Window::Range(text);
  return Window::Range(text.substr(0, hash), occurrence);
}

std::optional<Window> ParseStepsWindow(std::string_view text) {
  const char* const end = text.data() + text.size();
  std::uint64_t first = 0, last = 0;
  const auto [colon, error] = std::from_chars(text.data(), end, first);
  if (error != std::errc() || colon == end || *colon != ':') return std::nullopt;
  const auto [rest, last_error] = std::from_chars(colon + 1, end, last);
  if (last_error != std::errc() || rest != end || last <= first) return std::nullopt;
  return Window::Steps(first, last);
}

std::optional<GroupBy> ParseGroupBy(const std::string& text) {
  if (text == "operator") return GroupBy::kOperator;
  if (text == "leaf") return GroupBy::kLeaf;
  if (text == "range") return GroupBy::kRange;
  if (text == "thread") return GroupBy::kThread;
  if (text == "module") return GroupBy::kModule;
  if (text == "shape") return GroupBy::kShape;
  if (text == "rank") return GroupBy::kRank;
  if (text == "category") return GroupBy::kCategory;
  if (text == "category,module") return GroupBy::kCategoryModule;
  if (text == "parameter") return GroupBy::kParameter;
  return std::nullopt;
}

bool NeedsCategories(GroupBy by) {
  return by == GroupBy::kCategory || by == GroupBy::kCategoryModule || by == GroupBy::kParameter;
}

bool NeedsModules(GroupBy by) { return by == GroupBy::kModule || by == GroupBy::kCategoryModule; }

}  // namespace memoir
