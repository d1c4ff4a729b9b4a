// A job whose ranks were compared with each other.
#ifndef TOOLS_CLI_RANKS_COMPARED_JOB_H_
#define TOOLS_CLI_RANKS_COMPARED_JOB_H_

#include <cstdint>
#include <string>

#include "absl/status/statusor.h"
#include "tools/analyze/ranks/job/job_overview.h"
#include "tools/analyze/ranks/job/loaded_job.h"
#include "tools/analyze/ranks/odd_ranks.h"
#include "tools/model/capture.h"

namespace memoir {

struct ComparedJob {
  LoadedJob job;
  JobOverview overview;
  OddRanks found;
};

// `run`: as in Capture::Open. Shows progress, and prints files that could not be read.
absl::StatusOr<ComparedJob> CompareRanks(const std::string& folder, std::uint32_t run);
// The same for the ranks of an open capture, without output. Empty if it has fewer than two ranks or they cannot be
// compared.
OddRanks CompareRanksOf(const Capture& capture);

}  // namespace memoir

#endif  // TOOLS_CLI_RANKS_COMPARED_JOB_H_
