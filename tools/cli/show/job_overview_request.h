// memoir show for a job of many ranks: its overview, from the summaries of its recordings.
#ifndef TOOLS_CLI_SHOW_JOB_OVERVIEW_REQUEST_H_
#define TOOLS_CLI_SHOW_JOB_OVERVIEW_REQUEST_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

struct JobOverviewRequest {
  std::string folder;
  std::uint32_t run = 0;
  bool asked = false;  // true: --by job; false: shows the overview only if there are too many ranks for tables
  bool json = false;
  std::optional<std::uint32_t> top;
};

// Returns nullopt if the capture should be shown like any other.
absl::StatusOr<std::optional<std::string>> ShowJobOverview(const JobOverviewRequest& request, const Terminal& terminal);

}  // namespace memoir

#endif  // TOOLS_CLI_SHOW_JOB_OVERVIEW_REQUEST_H_
