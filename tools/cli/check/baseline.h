// The other capture of `memoir check --baseline`: its figures, and how the checked capture differs from them.
#ifndef TOOLS_CLI_CHECK_BASELINE_H_
#define TOOLS_CLI_CHECK_BASELINE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/cli/check/check_analyses.h"
#include "tools/cli/check/check_request.h"
#include "tools/model/capture.h"

namespace memoir {

struct Baseline {
  std::unique_ptr<const Capture> capture;
  std::unique_ptr<CheckAnalyses> analyses;  // analyses of the baseline
};
absl::StatusOr<Baseline> OpenBaseline(const CheckArguments& arguments, const InstantChoice& at);

// Adds the comparison to `checked.budget`. If the format is text, also appends it to `checked.text`.
absl::Status AddComparison(const Baseline& baseline, const CheckAnalyses& analyses, const CheckArguments& arguments,
                           const std::string& path, const CheckContext& shown, CheckResult& checked);

}  // namespace memoir

#endif  // TOOLS_CLI_CHECK_BASELINE_H_
