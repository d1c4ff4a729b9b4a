#include "tools/analyze/summary/summary.h"

#include <optional>
#include <utility>

#include "tools/analyze/categories/library_workspaces.h"
#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/summary/summary_additions.h"
#include "tools/analyze/summary/summary_pass.h"
#include "tools/model/import_source.h"

namespace memoir {

namespace {

// Runs one pass. `stop`: if true, the pass stops at the first device with a caching allocator, and the function returns
// nullopt.
Task<absl::StatusOr<std::optional<Summary>>> SummaryBy(const Grouping& grouping, JointReplays& replays,
                                                       const SummaryOptions& options, bool stop) {
  SummaryPass pass(replays.capture(), options, grouping);
  // The line of the peak may come from the stack of a forward operator. Blocks of backward have these stacks only in a
  // replay with modules.
  ReplayNeeds needs = {.first_seen = true, .modules = true};
  if (stop) {
    pass.StopAtCachingDevice();
    needs.go_on = [&pass] { return !pass.stopped(); };
  }
  absl::StatusOr<ReplayReport> report = co_await replays.Next(pass, needs);
  if (!report.ok()) co_return report.status();
  if (pass.stopped()) co_return std::optional<Summary>();
  if (!pass.selection_status().ok()) co_return pass.selection_status();
  Summary summary = pass.TakeSummary();
  summary.report = *std::move(report);
  co_return std::optional(std::move(summary));
}

// Separates workspaces only if there is a device with a caching allocator. The first pass searches for such a device,
// so a capture without one needs no other pass. If another analysis needs the categories, the workspaces are taken from
// them.
Task<absl::StatusOr<Summary>> SummaryWithWorkspaces(Grouping& grouping, SharedCategories& shared,
                                                    const SummaryOptions& options, SummaryAdditions& additions) {
  JointReplays& replays = shared.replays();
  bool may_stop = Grouping::SeparatesWorkspaces(options.by);
  if (may_stop && shared.is_wanted()) {
    const absl::StatusOr<KnownCategories>& categories = co_await shared.Find();
    if (!categories.ok()) co_return categories.status();
    grouping.SeparateWorkspaces((*categories)->workspaces);
    may_stop = false;
  }
  auto summary = co_await SummaryBy(grouping, replays, options, may_stop);
  if (summary.ok() && !summary->has_value()) {
    const Task<absl::StatusOr<LibraryWorkspaces>> find_workspaces = FindLibraryWorkspaces(replays);
    additions.Start(co_await LookForFailures(replays));
    absl::StatusOr<LibraryWorkspaces>& workspaces = co_await find_workspaces;
    if (!workspaces.ok()) co_return workspaces.status();
    grouping.SeparateWorkspaces(*std::move(workspaces));
    summary = co_await SummaryBy(grouping, replays, options, false);
  }
  if (!summary.ok()) co_return summary.status();
  co_return **std::move(summary);
}

SummaryAdditions::Checkpoints ChooseCheckpoints(const SummaryOptions& options) {
  if (!options.checkpointing || !options.takes_all_blocks()) return SummaryAdditions::Checkpoints::kNever;
  return options.by == GroupBy::kCategory ? SummaryAdditions::Checkpoints::kAlways
                                          : SummaryAdditions::Checkpoints::kAfterErrors;
}

}  // namespace

Task<absl::StatusOr<Summary>> AnalyzeSummary(SharedCategories& shared, SummaryOptions options) {
  JointReplays& replays = shared.replays();
  SummaryAdditions additions(shared, options, {ChooseCheckpoints(options), options.errors, options.endings});
  const Task<absl::StatusOr<Grouping>> make_grouping = Grouping::Make(shared, options.by, options.own);
  // The replay for the categories also shows which additions can start together with the summary.
  if ((options.errors || options.endings) && (NeedsCategories(options.by) || shared.is_wanted()))
    additions.Start(co_await LookForFailures(replays));
  absl::StatusOr<Grouping>& grouping = co_await make_grouping;
  if (!grouping.ok()) co_return grouping.status();
  absl::StatusOr<Summary> summary = co_await SummaryWithWorkspaces(*grouping, shared, options, additions);
  if (!summary.ok()) co_return summary.status();
  if (const absl::Status added = co_await additions.AddTo(*summary); !added.ok()) co_return added;
  const ImportSource source = ImportSourceOf(replays.capture());
  if (source == ImportSource::kTrace && summary->missing == kNoStacks)
    summary->missing = "No line is known: the trace was recorded without with_stack=True.";
  for (DeviceRow& device : summary->devices) {
    if (IsImported(replays.capture())) device.num_alloc_retries.reset();
    device.active_known = source != ImportSource::kTrace;
  }
  co_return summary;
}

absl::StatusOr<Summary> AnalyzeSummary(const Capture& capture, const SummaryOptions& options) {
  JointReplays replays(capture, options);
  SharedCategories categories(replays);
  return replays.Finish(AnalyzeSummary(categories, options));
}

}  // namespace memoir
