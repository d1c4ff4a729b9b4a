#include "tools/cli/ranks/own_summaries.h"

#include <vector>

#include "absl/status/statusor.h"
#include "tools/cli/ranks/asked_recordings.h"
#include "tools/cli/ranks/job_reader.h"
#include "tools/cli/ranks/named_summary.h"
#include "tools/model/liveness.h"
#include "tools/read/folder.h"
#include "tools/read/summary_file.h"

namespace memoir {
namespace {

struct Own {
  std::vector<const NamedFiles*> ended;
  bool of_many_ranks = false;
};

void Look(const JobFiles& job, const NamedFiles& files, Own& own) {
  const absl::StatusOr<CaptureFolder> opened = OpenFolder(PathOf(job, files));
  if (!opened.ok()) return;  // whoever shows the job says so
  bool ended = true;
  for (const ProcessFiles& process : opened->processes) {
    const v1::ProcessInfo& info = process.parts.back().process;
    ended = ended && IsOfThisHost(info) && LivenessOf(info, 0) != Liveness::kRuns;
    own.of_many_ranks = own.of_many_ranks || info.world_size() > kRanksOfTables;
  }
  if (ended) own.ended.push_back(&files);
}

}  // namespace

void SummarizeOwnRecordings(const std::string& folder, bool any, const std::function<void(const std::string&)>& say,
                            const std::function<void(double)>& progress) {
  // A shared folder has the recordings of thousands of ranks, and only those of this host are opened.
  const absl::StatusOr<JobFiles> job = ListJobFiles(folder, NamesThisHost);
  if (!job.ok()) return;
  Own own;
  for (const NamedFiles& files : job->named) {
    if (!files.parts.empty() && !HasFreshSummary(*job, files)) Look(*job, files, own);
  }
  if (any || own.of_many_ranks) WriteSummaries(*job, own.ended, say, progress);
}

}  // namespace memoir
