// A job whose ranks were compared with each other.
#ifndef TOOLS_CLI_RANKS_COMPARED_JOB_H_
#define TOOLS_CLI_RANKS_COMPARED_JOB_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tools/analyze/ranks/job_overview.h"
#include "tools/analyze/ranks/job_reading.h"
#include "tools/analyze/ranks/odd_ranks.h"

namespace memoir {

struct ComparedJob {
  JobReading job;
  JobOverview overview;
  OddRanks found;
};

// Of `run`, as Capture::Open has it. Shows progress, and says what could not be read.
absl::StatusOr<ComparedJob> CompareRanks(const std::string& folder, std::uint32_t run);

}  // namespace memoir

#endif  // TOOLS_CLI_RANKS_COMPARED_JOB_H_
