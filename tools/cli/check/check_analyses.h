// The analyses for `memoir check`, and the function that runs one check by its name. A check returns its findings as
// text and JSON.
#ifndef TOOLS_CLI_CHECK_CHECK_ANALYSES_H_
#define TOOLS_CLI_CHECK_CHECK_ANALYSES_H_

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "tools/analyze/accounting/balance.h"
#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/host/host_memory_use.h"
#include "tools/analyze/lives/leak_holders.h"
#include "tools/analyze/pass/joint_replays.h"
#include "tools/analyze/pass/task.h"
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

// One capture and its analyses. An analysis starts when it is first requested. Analyses that have started run in the
// same replays.
class CheckAnalyses {
 public:
  CheckAnalyses(const Capture& capture, SummaryOptions options, InstantChoice at)
      : capture_(capture), options_(std::move(options)), at_(std::move(at)) {}
  CheckAnalyses(const CheckAnalyses&) = delete;
  CheckAnalyses& operator=(const CheckAnalyses&) = delete;

  // Starts the analysis of a check.
  void Start(std::string_view check);
  // Starts the analyses of all figures that conditions may name.
  void StartFigures() {
    StartSummary();
    StartFragmentation();
    StartBalance();
  }
  const Capture& capture() const { return capture_; }
  const std::optional<std::string>& device() const { return options_.device; }
  const SummaryOptions& options() const { return options_; }
  // Each of the following functions returns the result of an analysis. It first runs the replays that the analysis
  // still needs.
  absl::StatusOr<Summary>& summary() { return replays_.Finish(StartSummary()); }
  absl::StatusOr<Fragmentation>& fragmentation() { return replays_.Finish(StartFragmentation()); }
  absl::StatusOr<Balance>& balance() { return replays_.Finish(StartBalance()); }
  absl::StatusOr<LeakAnswer>& leaks() { return replays_.Finish(StartLeaks()); }
  absl::StatusOr<HostMemoryUse>& host() { return replays_.Finish(StartHost()); }

 private:
  template <class Result>
  using Analysis = std::optional<Task<absl::StatusOr<Result>>>;

  const Task<absl::StatusOr<Summary>>& StartSummary();
  const Task<absl::StatusOr<Fragmentation>>& StartFragmentation();
  const Task<absl::StatusOr<Balance>>& StartBalance();
  const Task<absl::StatusOr<LeakAnswer>>& StartLeaks();
  const Task<absl::StatusOr<HostMemoryUse>>& StartHost();

  const Capture& capture_;
  const SummaryOptions options_;
  const InstantChoice at_;
  JointReplays replays_{capture_, options_};
  SharedCategories categories_{replays_};
  Analysis<Summary> summary_;
  Analysis<Fragmentation> fragmentation_;
  Analysis<Balance> balance_;
  Analysis<LeakAnswer> leaks_;
  Analysis<HostMemoryUse> host_;
};

// The inputs of a check in addition to the analyses.
struct CheckContext {
  const CheckArguments& arguments;
  const CheckRequest& asked;
  std::string path;  // for printed commands: the capture's path, after --run if a run was selected
  Terminal terminal;
  std::size_t top() const { return arguments.top.value_or(5); }
};

// Runs the check `name`. `brief`: the text is one line if nothing is found.
absl::StatusOr<CheckResult> RunCheck(const std::string& name, CheckAnalyses& analyses, const CheckContext& shown,
                                     bool brief);

}  // namespace memoir

#endif  // TOOLS_CLI_CHECK_CHECK_ANALYSES_H_
