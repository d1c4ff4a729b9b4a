// The other recording of `memoir check --baseline`: its figures, and what is more or less than in it.
#ifndef TOOLS_CLI_CHECK_BASELINE_H_
#define TOOLS_CLI_CHECK_BASELINE_H_

#include <memory>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "tools/cli/check/check_request.h"
#include "tools/cli/check/checks.h"
#include "tools/model/capture.h"

namespace memoir {

struct Baseline {
  std::unique_ptr<const Capture> capture;
  std::unique_ptr<Analyses> analyses;  // of it
};
absl::StatusOr<Baseline> OpenBaseline(const CheckArguments& arguments, const At& at);

// As text behind that of `checked`, which is for a terminal, and in its budget.
absl::Status AddComparison(const Baseline& baseline, const Analyses& analyses, const CheckArguments& arguments,
                           const std::string& path, const Shown& shown, Checked& checked);

}  // namespace memoir

#endif  // TOOLS_CLI_CHECK_BASELINE_H_
