#include "tools/analyze/categories/evidence/categorization.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/types/span.h"
#include "tools/analyze/categories/evidence/evidence_pass.h"
#include "tools/analyze/categories/rules.h"
#include "tools/model/import_source.h"
#include "tools/model/snapshot_trigger.h"

namespace memoir {

namespace {

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

// Keeps the rules of blocks that an optimizer's step allocated, and makes the categories of all other blocks unknown.
// An imported capture has no tensors, so it contains no evidence for the other rules.
void KeepOptimizers(BlockRules& rules) {
  const absl::Span<const Rule> all = Rules();
  const auto unknown = static_cast<RuleNumber>(all.size() - 1);
  rules.Transform([&](RuleNumber rule) {
    const bool by_range =
        all[rule].name == std::string_view("kept_by_step") || all[rule].name == std::string_view("scratch_of_step");
    return by_range ? rule : unknown;
  });
}

Task<absl::StatusOr<KnownCategories>> Categorize(JointReplays& replays) {
  const Capture& capture = replays.capture();
  EvidencePass pass(IsSnapshot(capture));
  const absl::StatusOr<ReplayReport> report = co_await replays.Next(pass, {.tensors = true, .modules = true});
  if (!report.ok()) co_return report.status();
  BlockCategories found;
  found.rules = pass.TakeRules();
  if (IsImported(capture)) KeepOptimizers(found.rules);
  found.expected = pass.TakeExpected();
  found.owners = pass.TakeOwners();
  found.parameters = pass.TakeParameters();
  found.workspaces = pass.TakeWorkspaces();
  absl::erase_if(found.workspaces, [&](std::uint64_t ordinal) { return !IsOfLibrary(found.rules.At(ordinal)); });
  found.missing = Missing(capture, replays.selection().rank, pass.without_operators());
  co_return std::make_shared<const BlockCategories>(std::move(found));
}

}  // namespace

const Task<absl::StatusOr<KnownCategories>>& SharedCategories::Find() {
  if (!categories_) categories_.emplace(Categorize(replays_));
  return *categories_;
}

}  // namespace memoir
