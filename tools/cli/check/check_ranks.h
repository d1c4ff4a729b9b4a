// memoir check ranks: of a job as a whole, from the summaries of its ranks. No recording is opened that has one.
#ifndef TOOLS_CLI_CHECK_CHECK_RANKS_H_
#define TOOLS_CLI_CHECK_CHECK_RANKS_H_

#include <string>

#include "absl/status/statusor.h"
#include "tools/cli/check/check_request.h"
#include "tools/cli/check/checks.h"

namespace memoir {

inline constexpr char kRanksCheck[] = "ranks";

// What does not go with it; "" when all is well.
std::string RanksComplaint(const CheckArguments& arguments);

absl::StatusOr<Checked> CheckRanks(const std::string& path, const CheckArguments& arguments);

}  // namespace memoir

#endif  // TOOLS_CLI_CHECK_CHECK_RANKS_H_
