#include "tools/analyze/rules/block_categories.h"

#include <algorithm>
#include <utility>

#include "tools/analyze/rules/evidence_pass.h"

namespace memoir {

namespace {

// By RuleNumber.
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

absl::StatusOr<BlockCategories> CategorizeBlocks(const Capture& capture, ReplayOptions options) {
  EvidencePass pass;
  options.tensors = options.modules = true;
  options.first_seen = false;
  const absl::StatusOr<ReplayReport> report = capture.Replay(pass, options);
  if (!report.ok()) return report.status();
  return BlockCategories{pass.TakeRules(), pass.TakeOwners(), pass.TakeParameters()};
}

std::string MissingForCategories(const Capture& capture, std::optional<std::uint32_t> rank) {
  bool ranges = true, modules = true;
  for (const ProcessSummary& process : capture.processes()) {
    if (rank && process.rank() != rank) continue;
    const auto& sources = process.info.sources();
    const auto recorded = [&](std::string_view what) { return std::ranges::find(sources, what) != sources.end(); };
    ranges = ranges && (recorded("ranges") || recorded("dispatch"));
    modules = modules && recorded("modules");
  }
  if (!ranges) return "No operators were recorded, which categories are told by: record without --ops none.";
  if (!modules) {
    return "No modules were recorded: parameters are those that optimizers and autograd show. Record without --modules "
           "off.";
  }
  return "";
}

}  // namespace memoir
