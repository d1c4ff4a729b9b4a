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

// Compares the ranks of a job. `run`: as in Capture::Open. Shows progress, and prints a line for each merged ring.
absl::StatusOr<ComparedJob> CompareRanks(const std::string& folder, std::uint32_t run);
// Compares the programs of the first odd ranks with the programs of usual ranks, if `folder` has their recordings.
// Shows progress.
void ComparePrograms(const std::string& folder, ComparedJob& compared);
// Compares the ranks of an open capture, without output. Empty if the capture has fewer than two ranks, or if they
// cannot be compared.
OddRanks CompareRanksOf(const Capture& capture);

}  // namespace memoir

#endif  // TOOLS_CLI_RANKS_COMPARED_JOB_H_
