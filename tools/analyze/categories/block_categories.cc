#include "tools/analyze/categories/block_categories.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tools/analyze/categories/evidence/evidence_pass.h"
#include "tools/model/import_source.h"
#include "tools/model/snapshot_trigger.h"

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

std::string Missing(const Capture& capture, std::optional<std::uint32_t> rank, double without_operators) {
  const auto has_modules = [&](const ProcessSummary& process) {
    return (rank && process.rank() != rank) ||
           std::ranges::find(process.info.sources(), "modules") != process.info.sources().end();
  };
  constexpr double kWorthTelling = 0.01;
  if (without_operators >= kWorthTelling) {
    return absl::StrCat(
        "Operators were not recorded for a time (--detail auto, --start memory, --steps, --range): the categories of ",
        std::lround(100 * without_operators), "% of the allocated bytes are known from holders alone.");
  }
  if (ImportSourceOf(capture) == ImportSource::kTrace)
    return "A trace of torch.profiler has no tensors: only what optimizers allocate has a category.";
  if (std::ranges::all_of(capture.processes(), has_modules)) return "";
  if (ImportSourceOf(capture) == ImportSource::kSnapshot)
    return "A snapshot has no tensors and no modules: only what optimizers allocate has a category.";
  return "No modules were recorded: only parameters of optimizers and autograd are known. Record without --modules "
         "off.";
}

// Keeps only the rules for blocks that an optimizer's step allocated. An imported capture has no tensors, so it
// contains no evidence for the other rules.
void KeepOptimizers(BlockRules& rules) {
  const absl::Span<const Rule> all = Rules();
  const auto unknown = static_cast<RuleNumber>(all.size() - 1);
  rules.Transform([&](RuleNumber rule) {
    const bool by_range =
        all[rule].name == std::string_view("kept_by_step") || all[rule].name == std::string_view("scratch_of_step");
    return by_range ? rule : unknown;
  });
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
  EvidencePass pass(IsSnapshot(capture));
  options.tensors = options.modules = true;
  options.first_seen = false;
  const absl::StatusOr<ReplayReport> report = capture.Replay(pass, options);
  if (!report.ok()) return report.status();
  BlockRules rules = pass.TakeRules();
  if (IsImported(capture)) KeepOptimizers(rules);
  return BlockCategories{std::move(rules), pass.TakeExpected(), pass.TakeOwners(), pass.TakeParameters(),
                         Missing(capture, options.rank, pass.without_operators())};
}

}  // namespace memoir
