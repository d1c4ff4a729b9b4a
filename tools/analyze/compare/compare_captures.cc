#include "tools/analyze/compare/compare_captures.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "tools/analyze/compare/device_causes.h"
#include "tools/analyze/compare/lines_below_peak.h"
#include "tools/analyze/compare/main_cause.h"
#include "tools/analyze/compare/matched_devices.h"
#include "tools/analyze/compare/matched_parts.h"
#include "tools/analyze/compare/program_changes.h"
#include "tools/analyze/compare/recording_differences.h"
#include "tools/model/snapshot_trigger.h"

namespace memoir {
namespace {

constexpr char kEvicted[] = "(in evicted parts)";

// Returns true if the rows of the grouping can be computed from the fields of HeldPart other than `other`.
bool IsMadeOfFacets(GroupBy by) {
  return by == GroupBy::kOperator || by == GroupBy::kModule || by == GroupBy::kLine || by == GroupBy::kCategory ||
         by == GroupBy::kCategoryModule || by == GroupBy::kCategoryLine;
}

GroupBy DefaultGrouping(const CaptureHoldings& a, const CaptureHoldings& b) {
  if (!a.lines.empty() || !b.lines.empty()) return GroupBy::kLine;
  return a.modules.empty() && b.modules.empty() ? GroupBy::kOperator : GroupBy::kModule;
}

std::string MissingOf(const CaptureHoldings& held, GroupBy by) {
  std::string lines = NeedsStacks(by) ? held.missing_lines : "";
  return lines.empty() && NeedsCategories(by) ? held.missing_categories : lines;
}

struct CaptureAnalysis {
  Summary summary;
  CaptureHoldings held;
};

Task<absl::StatusOr<CaptureAnalysis>> AnalyzeSide(SharedCategories& shared, Selection selection,
                                                  CompareOptions options) {
  const Capture& capture = shared.capture();
  SummaryOptions of_summary;
  static_cast<Selection&>(of_summary) = selection;
  of_summary.errors = false;
  CaptureHoldingsOptions of_held;
  static_cast<Selection&>(of_held) = selection;
  of_held.at = options.at;
  // A snapshot has only one instant, so its peak is its end.
  if (IsSnapshot(capture) && options.at.kind == InstantChoice::Kind::kPeak) of_held.at.kind = InstantChoice::Kind::kEnd;
  if (options.by && !IsMadeOfFacets(*options.by)) of_held.other = options.by;
  Task<absl::StatusOr<CaptureHoldings>> hold = AnalyzeCaptureHoldings(shared, of_held);
  Task<absl::StatusOr<Summary>> summarize = AnalyzeSummary(shared, of_summary);
  absl::StatusOr<Summary> summary = co_await std::move(summarize);
  if (!summary.ok()) co_return summary.status();
  absl::StatusOr<CaptureHoldings> held = co_await std::move(hold);
  if (!held.ok()) co_return held.status();
  // A snapshot does not show which allocation led to its instant.
  for (HeldDevice& device : held->devices) {
    if (IsSnapshot(capture)) device.phase.reset();
    if (IsSnapshot(capture)) device.module.clear();
  }
  co_return CaptureAnalysis{*std::move(summary), *std::move(held)};
}

absl::StatusOr<CaptureAnalysis> Analyse(const Capture& capture, const Selection& selection,
                                        const CompareOptions& options) {
  JointReplays replays(capture, selection);
  SharedCategories categories(replays);
  return replays.Finish(AnalyzeSide(categories, selection, options));
}

// Returns one HeldPart for the whole peak. Only the size of the peak is known, because the part of the recording that
// contains the peak was evicted.
HeldPart PartOfEvicted(std::uint64_t bytes) {
  HeldPart part;
  part.operator_name = part.module_label = part.line_label = part.category = part.other = kEvicted;
  part.bytes = part.requested = bytes;
  return part;
}

std::vector<SideInputs> SidesOf(const CaptureAnalysis& analysed, const InstantChoice& at) {
  std::vector<SideInputs> sides;
  for (const DeviceRow& device : analysed.summary.devices) {
    SideInputs one;
    one.side.device = device;
    for (const HeldDevice& held : analysed.held.devices) {
      if (held.process == device.process && held.name == device.name) one.held = held;
    }
    if (device.peak_is_evicted && at.kind == InstantChoice::Kind::kPeak) {
      one.held.parts = {PartOfEvicted(device.peak_allocated_bytes)};
      one.held.bytes = device.peak_allocated_bytes;
      one.held.blocks = 0;
      one.held.ns = device.peak_ns;
      one.held.phase.reset();
      one.held.module.clear();
    }
    one.side.held = {one.held.bytes, one.held.blocks};
    one.side.ns = one.held.ns;
    one.side.phase = one.held.phase;
    one.side.module = one.held.module;
    sides.push_back(std::move(one));
  }
  return sides;
}

// Returns a HeldDevice with the parts of the reserved bytes in place of the parts of the live bytes.
HeldDevice ReservedOf(const SideInputs& one) {
  HeldDevice reserved;
  reserved.parts = one.held.reserved_parts;
  return reserved;
}

bool KnowsReserved(const SideInputs& one) {
  return one.side.device.caching && one.held.reserved_bytes > 0 &&
         one.held.reserved_bytes == one.side.device.peak_reserved_bytes;
}

ComparedDevice CompareDevices(const SideInputs* a, const SideInputs* b, MatchedNames& names, GroupBy by,
                              bool with_reserved, const std::vector<ProgramChange>& changes) {
  ComparedDevice compared;
  compared.name = (b != nullptr ? b : a)->side.device.name;
  if (a != nullptr) compared.sides[0] = a->side;
  if (b != nullptr) compared.sides[1] = b->side;
  if (a != nullptr) compared.rank_a = a->side.device.rank;
  if (b != nullptr) compared.rank_b = b->side.device.rank;
  const std::vector<MatchedPart> parts =
      names.MatchParts(a != nullptr ? &a->held : nullptr, b != nullptr ? &b->held : nullptr);
  compared.cause = MainCauseOf(parts);
  if (!compared.has_both()) {
    compared.cause.state = RowState::kSame;
    return compared;
  }
  compared.rows = RowsOf(parts, by);
  if (with_reserved && KnowsReserved(*a) && KnowsReserved(*b)) {
    const HeldDevice reserved_a = ReservedOf(*a), reserved_b = ReservedOf(*b);
    compared.reserved_cause = ReservedCauseOf(names.MatchParts(&reserved_a, &reserved_b));
  }
  compared.factor = CommonFactorOf(RowsOf(parts, GroupBy::kLine));
  compared.causes = CausesOf({a->held, b->held, parts}, changes, names);
  const auto is_of_earlier_steps = [](const ProgramChange& change) {
    return change.kind == ProgramChange::Kind::kEarlierSteps;
  };
  if (std::ranges::any_of(compared.causes, is_of_earlier_steps))
    compared.cause = MainCauseOf(PartsOfEarlierSteps(parts));
  compared.below = LinesBelowPeak(a->held, b->held, parts, names);
  return compared;
}

// Returns the sort key of a device, for the order of Comparison::devices.
auto Rank(const ComparedDevice& device) {
  const bool caching =
      (device.sides[0] && device.sides[0]->device.caching) || (device.sides[1] && device.sides[1]->device.caching);
  const std::int64_t difference = device.has_both() ? std::abs(device.difference()) : 0;
  std::uint64_t peak = 0;
  for (const auto& side : device.sides) peak = std::max(peak, side ? side->device.peak_allocated_bytes : 0);
  return std::tuple(!device.has_both(), !caching, -difference, device.is_same(), ~peak);
}

}  // namespace

absl::StatusOr<Comparison> CompareCaptures(const Capture& a, const Capture& b, const CompareOptions& options) {
  const absl::StatusOr<CaptureAnalysis> analysed_a = Analyse(a, options.a, options);
  if (!analysed_a.ok()) return analysed_a.status();
  const absl::StatusOr<CaptureAnalysis> analysed_b = Analyse(b, options.b, options);
  if (!analysed_b.ok()) return analysed_b.status();
  const std::vector<SideInputs> sides_a = SidesOf(*analysed_a, options.at), sides_b = SidesOf(*analysed_b, options.at);
  const GroupBy by = options.by.value_or(DefaultGrouping(analysed_a->held, analysed_b->held));
  MatchedNames names(analysed_a->held, analysed_b->held, options.renames, by);
  // A segment may contain both selected blocks and other blocks. So reserved bytes are compared only if all blocks are
  // selected.
  const bool with_reserved = options.at.kind == InstantChoice::Kind::kPeak && options.a.takes_all_blocks();
  Comparison comparison;
  comparison.changes = FindProgramChanges(analysed_a->held, analysed_b->held, names);
  for (const auto& [of_a, of_b] : MatchDevices(sides_a, sides_b))
    comparison.devices.push_back(CompareDevices(of_a, of_b, names, by, with_reserved, comparison.changes));
  const LineChanges of_lines = FindLineChanges(analysed_a->held, analysed_b->held, names);
  for (ComparedDevice& device : comparison.devices) {
    AddShapes(analysed_a->held, analysed_b->held, device.cause);
    AddLineChange(of_lines, device);
  }
  std::ranges::stable_sort(comparison.devices,
                           [](const auto& one, const auto& other) { return Rank(one) < Rank(other); });
  comparison.of_snapshots = IsSnapshot(a) && IsSnapshot(b) && options.at.kind == InstantChoice::Kind::kPeak;
  comparison.by = by;
  comparison.at = options.at;
  comparison.unlike = FindRecordingDifferences({a, analysed_a->summary, analysed_a->held},
                                               {b, analysed_b->summary, analysed_b->held}, names.modules());
  comparison.unused_renames = names.renames().UnusedRenames();
  comparison.missing = MissingOf(analysed_a->held, by);
  if (comparison.missing.empty()) comparison.missing = MissingOf(analysed_b->held, by);
  comparison.report_a = analysed_a->held.report;
  comparison.report_b = analysed_b->held.report;
  return comparison;
}

}  // namespace memoir
