// The baseline: the capture with which `memoir check --baseline` compares the checked capture.
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

// Adds the comparison with the baseline to `checked.budget`. If the format is text, also appends the comparison to
// `checked.text`. `path`: the path of the checked capture.
absl::Status AddComparison(const Baseline& baseline, const CheckAnalyses& analyses, const CheckArguments& arguments,
                           const std::string& path, const CheckContext& shown, CheckResult& checked);

}  // namespace memoir

#endif  // TOOLS_CLI_CHECK_BASELINE_H_
