#include "tools/analyze/summary/summary.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/summary/summary_errors.h"
#include "tools/analyze/summary/summary_pass.h"
#include "tools/model/import_source.h"

namespace memoir {

namespace {

// Runs one pass. `stop`: stops at the first device with a caching allocator, and returns nullopt.
absl::StatusOr<std::optional<Summary>> SummaryBy(const Grouping& grouping, const Capture& capture,
                                                 const SummaryOptions& options, bool stop) {
  ReplayOptions replay = ReplayOptionsFor(options, false, true);
  replay.modules = true;  // so that backward finds its forward operators, which determine the line of the peak
  SummaryPass pass(capture, options, grouping);
  if (stop) {
    pass.StopAtCachingDevice();
    replay.go_on = [&pass] { return !pass.stopped(); };
  }
  absl::StatusOr<ReplayReport> report = capture.Replay(pass, replay);
  if (!report.ok()) return report.status();
  if (pass.stopped()) return std::optional<Summary>();
  if (!pass.selection_status().ok()) return pass.selection_status();
  Summary summary = pass.TakeSummary();
  summary.report = *std::move(report);
  return std::optional(std::move(summary));
}

// Separates workspaces only if there is a device with a caching allocator. The first pass searches for such a device,
// so a capture without one needs no other pass.
absl::StatusOr<Summary> SummaryWithWorkspaces(Grouping& grouping, const Capture& capture,
                                              const SummaryOptions& options) {
  auto summary = SummaryBy(grouping, capture, options, Grouping::SeparatesWorkspaces(options.by));
  if (summary.ok() && !summary->has_value()) {
    absl::StatusOr<LibraryWorkspaces> workspaces =
        FindLibraryWorkspaces(capture, ReplayOptionsFor(options, true, false));
    if (!workspaces.ok()) return workspaces.status();
    grouping.SeparateWorkspaces(*std::move(workspaces));
    summary = SummaryBy(grouping, capture, options, false);
  }
  if (!summary.ok()) return summary.status();
  return **std::move(summary);
}

}  // namespace

absl::StatusOr<Summary> AnalyzeSummary(const Capture& capture, const SummaryOptions& options) {
  std::optional<Capture::SharedDecoding> shared;
  if (NeedsCategories(options.by) || options.by == GroupBy::kShape) shared.emplace(capture);
  absl::StatusOr<Grouping> grouping = Grouping::Make(capture, options.by, options);
  if (!grouping.ok()) return grouping.status();
  absl::StatusOr<Summary> summarised = SummaryWithWorkspaces(*grouping, capture, options);
  if (!summarised.ok()) return summarised.status();
  Summary summary = *std::move(summarised);
  if (options.checkpointing && options.takes_all_blocks() &&
      (options.by == GroupBy::kCategory || RanOutOfMemory(summary))) {
    const absl::Status added = NeedsCategories(options.by)
                                   ? AddCheckpointing(capture, options, grouping->categories(), summary)
                                   : AddCheckpointing(capture, options, summary);
    if (!added.ok()) return added;
  }
  if (const absl::Status added = AddOutOfMemory(capture, options.WithAllBlocks(), summary); !added.ok()) return added;
  if (options.endings) {
    if (const absl::Status added = AddEndings(capture, options, summary); !added.ok()) return added;
  }
  if (ImportSourceOf(capture) == ImportSource::kTrace && summary.missing == kNoStacks)
    summary.missing = "No line is known: the trace was recorded without with_stack=True.";
  for (DeviceRow& device : summary.devices) {
    if (IsImported(capture)) device.num_alloc_retries.reset();
    device.active_known = ImportSourceOf(capture) != ImportSource::kTrace;
  }
  return summary;
}

}  // namespace memoir
