// The checks of memoir check, by their names. Each returns findings as text or JSON.
#ifndef TOOLS_CLI_CHECK_CHECK_ANALYSES_H_
#define TOOLS_CLI_CHECK_CHECK_ANALYSES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/accounting/balance.h"
#include "tools/analyze/host/host_memory_use.h"
#include "tools/analyze/lives/leaks.h"
#include "tools/analyze/segments/fragmentation.h"
#include "tools/analyze/summary/summary.h"
#include "tools/cli/check/budget_report.h"
#include "tools/cli/check/check_request.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

struct CheckResult {
  std::string text;
  Json json;
  bool found = false;
  std::vector<std::string> failures;  // checks and conditions that could not be evaluated, one line each
  BudgetReport budget;                // results of the conditions
  bool grew = false;                  // true: compared with the baseline, a figure grew by more than a condition allows
};

// One capture and its analyses. Each analysis runs when it is first needed.
class CheckAnalyses {
 public:
  CheckAnalyses(const Capture& capture, SummaryOptions options, InstantChoice at)
      : capture_(capture), options_(std::move(options)), at_(std::move(at)) {}
  const Capture& capture() const { return capture_; }
  const std::optional<std::string>& device() const { return options_.device; }
  absl::StatusOr<Summary>& summary() {
    if (!summary_) summary_.emplace(AnalyzeSummary(capture_, options_));
    return *summary_;
  }
  absl::StatusOr<Fragmentation>& fragmentation() {
    if (!fragmentation_) fragmentation_.emplace(AnalyzeFragmentation(capture_, options_));
    return *fragmentation_;
  }
  absl::StatusOr<Balance>& balance() {
    if (!balance_) balance_.emplace(AnalyzeBalance(capture_, options_, at_));
    return *balance_;
  }

  const SummaryOptions& options() const { return options_; }
  absl::StatusOr<Leaks>& leaks() {
    if (!leaks_) leaks_.emplace(AnalyzeLeaks(capture_, options_));
    return *leaks_;
  }
  absl::StatusOr<HostMemoryUse>& host() {
    if (!host_) host_.emplace(AnalyzeHostMemory(capture_, options_));
    return *host_;
  }

 private:
  const Capture& capture_;
  const SummaryOptions options_;
  const InstantChoice at_;
  std::optional<absl::StatusOr<Summary>> summary_;
  std::optional<absl::StatusOr<Fragmentation>> fragmentation_;
  std::optional<absl::StatusOr<Balance>> balance_;
  std::optional<absl::StatusOr<Leaks>> leaks_;
  std::optional<absl::StatusOr<HostMemoryUse>> host_;
};

struct CheckContext {
  const CheckArguments& arguments;
  const CheckRequest& asked;
  std::string path;  // as it can be typed, after --run if a run was selected
  Terminal terminal;
  std::size_t top() const { return arguments.top.value_or(5); }
};

// `brief`: prints one line if nothing is found.
absl::StatusOr<CheckResult> RunCheck(const std::string& name, CheckAnalyses& analyses, const CheckContext& shown,
                                     bool brief);

}  // namespace memoir

#endif  // TOOLS_CLI_CHECK_CHECK_ANALYSES_H_
