// memoir check ranks: checks a job as a whole, from the summaries of its ranks. Recordings with a summary are not
// opened.
#ifndef TOOLS_CLI_CHECK_CHECK_RANKS_H_
#define TOOLS_CLI_CHECK_CHECK_RANKS_H_

#include <string>

#include "absl/status/statusor.h"
#include "tools/cli/check/check_analyses.h"
#include "tools/cli/check/check_request.h"

namespace memoir {

absl::StatusOr<CheckResult> CheckRanks(const std::string& path, const CheckArguments& arguments);

}  // namespace memoir

#endif  // TOOLS_CLI_CHECK_CHECK_RANKS_H_
