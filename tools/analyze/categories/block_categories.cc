#include "tools/analyze/categories/block_categories.h"

#include <algorithm>

#include "absl/types/span.h"

namespace memoir {

namespace {

// Returns, by RuleNumber, the number of the first rule with the same label.
std::vector<CategoryNumber> FirstAlike() {
  const absl::Span<const Rule> rules = Rules();
  std::vector<CategoryNumber> categories;
  for (const Rule& rule : rules) {
    const auto alike = [&](const Rule& other) { return other.kept == rule.kept && other.detail == rule.detail; };
    categories.push_back(static_cast<CategoryNumber>(std::ranges::find_if(rules, alike) - rules.begin()));
  }
  return categories;
}

}  // namespace

CategoryNumber CategoryOf(RuleNumber rule) {
  static const std::vector<CategoryNumber> categories = FirstAlike();
  return categories[rule];
}

std::string LabelOfCategory(CategoryNumber category) {
  const Rule& rule = Rules()[category];
  std::string label(ToString(rule.kept));
  if (!rule.detail.empty()) label.append(" (").append(rule.detail).append(")");
  return label;
}

CategoryNumber BlockCategories::CategoryOf(const Block& block) const { return memoir::CategoryOf(RuleOf(block)); }

}  // namespace memoir
