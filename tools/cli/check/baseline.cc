#include "tools/cli/check/baseline.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "tools/analyze/compare/compare_captures.h"
#include "tools/analyze/compare/comparison.h"
#include "tools/analyze/pass/window/groupings.h"
#include "tools/analyze/pass/window/step_counter.h"
#include "tools/cli/arguments/selection_arguments.h"
#include "tools/cli/arguments/typed_path.h"
#include "tools/cli/attach/ring_merge.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/compare/compare_text.h"
#include "tools/view/compare/headline.h"
#include "tools/view/terminal/printed_command.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

constexpr std::size_t kRows = 5;

std::vector<BudgetRow> RowsOf(const Comparison& comparison) {
  std::vector<BudgetRow> rows;
  const ComparedDevice* const device = comparison.focus();
  if (device == nullptr) return rows;
  std::vector<ComparedRow> shown = device->rows;
  ShortenFiles(shown);
  for (const ComparedRow& row : shown) {
    if (row.difference() == 0 || rows.size() == kRows) break;
    rows.push_back({row.name.empty() ? "(no name)" : Escaped(row.name), FormatBytes(row.a.bytes),
                    FormatBytes(row.b.bytes), FormatSignedBytes(row.difference())});
  }
  return rows;
}

}  // namespace

absl::StatusOr<Baseline> OpenBaseline(const CheckArguments& arguments, const InstantChoice& at) {
  absl::StatusOr<Capture> capture =
      OpenMerged(arguments.baseline, [](const std::string& line) { PrintMessage(line); }, RunOf("last"));
  if (!capture.ok())
    return absl::Status(capture.status().code(), "--baseline: " + std::string(capture.status().message()));
  Baseline baseline;
  baseline.capture = std::make_unique<const Capture>(*std::move(capture));
  SummaryOptions options;
  static_cast<Selection&>(options) = SelectionOf(arguments);
  if (const absl::Status status = FindSteps(*baseline.capture, options); !status.ok()) return status;
  baseline.analyses = std::make_unique<CheckAnalyses>(*baseline.capture, options, at);
  return baseline;
}

absl::Status AddComparison(const Baseline& baseline, const CheckAnalyses& analyses, const CheckArguments& arguments,
                           const std::string& path, const CheckContext& shown, CheckResult& checked) {
  CompareOptions options;
  options.a = baseline.analyses->options();
  options.b = analyses.options();
  options.b.progress = nullptr;
  absl::StatusOr<Comparison> comparison = CompareCaptures(*baseline.capture, analyses.capture(), options);
  if (!comparison.ok()) return comparison.status();
  const std::string at = comparison->of_snapshots ? "the snapshot" : "the peak";
  BudgetReport& budget = checked.budget;
  budget.headline = Headline(*comparison, at);
  if (const ComparedDevice* const device = comparison->focus(); device != nullptr && device->cause.bytes > 0)
    budget.cause = device->cause.source;
  budget.by = std::string(GroupingFactsOf(comparison->by).one);
  budget.more = PrintedCommand("diff " + Escaped(TypedPath(arguments.baseline)) + " " + Escaped(TypedPath(path)));
  budget.rows = RowsOf(*comparison);
  if (shown.asked.format != BudgetFormat::kText) return absl::OkStatus();
  CompareTextOptions text;
  text.top = kRows;
  text.at = at;
  text.more = budget.more;
  checked.text += "\n" + RenderComparison(*baseline.capture, analyses.capture(), *comparison, text, shown.terminal);
  return absl::OkStatus();
}

}  // namespace memoir
