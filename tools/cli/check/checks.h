// The checks of memoir check, each by its name: findings in text or JSON.
#ifndef TOOLS_CLI_CHECK_CHECKS_H_
#define TOOLS_CLI_CHECK_CHECKS_H_

#include <cstddef>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/accounting/balance.h"
#include "tools/analyze/host/host_memory.h"
#include "tools/analyze/lives/leaks.h"
#include "tools/analyze/segments/fragmentation.h"
#include "tools/analyze/summary/summary.h"
#include "tools/cli/check/budget_report.h"
#include "tools/cli/check/check_request.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

struct Checked {
  std::string text;
  Json json;
  bool found = false;
  std::vector<std::string> failures;  // what could not be checked, a line each
  BudgetReport budget;                // what the conditions said
  bool grew = false;                  // more than a condition allows, compared with the baseline
};

// One capture and what was found out about it; each analysis runs when it is first wanted.
class Analyses {
 public:
  Analyses(const Capture& capture, SummaryOptions options, At at)
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
  absl::StatusOr<HostMemory>& host() {
    if (!host_) host_.emplace(AnalyzeHost(capture_, options_));
    return *host_;
  }

 private:
  const Capture& capture_;
  const SummaryOptions options_;
  const At at_;
  std::optional<absl::StatusOr<Summary>> summary_;
  std::optional<absl::StatusOr<Fragmentation>> fragmentation_;
  std::optional<absl::StatusOr<Balance>> balance_;
  std::optional<absl::StatusOr<Leaks>> leaks_;
  std::optional<absl::StatusOr<HostMemory>> host_;
};

struct Shown {
  const CheckArguments& arguments;
  const Asked& asked;
  std::string path;  // as it can be typed, after --run where a run was asked for
  Terminal terminal;
  std::size_t top() const { return arguments.top.value_or(5); }
};

// `brief`: one line where nothing is found.
absl::StatusOr<Checked> RunCheck(const std::string& name, Analyses& analyses, const Shown& shown, bool brief);

}  // namespace memoir

#endif  // TOOLS_CLI_CHECK_CHECKS_H_
