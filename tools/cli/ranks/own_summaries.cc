#include "tools/cli/ranks/own_summaries.h"

#include <vector>

#include "absl/status/statusor.h"
#include "tools/cli/ranks/job_reader.h"
#include "tools/cli/ranks/named_summary.h"
#include "tools/cli/ranks/requested_recordings.h"
#include "tools/model/parts/process_liveness.h"
#include "tools/read/capture_folder.h"
#include "tools/read/summary_file.h"

namespace memoir {
namespace {

struct OwnRecordings {
  std::vector<const NamedFiles*> ended;
  bool of_many_ranks = false;
};

void ExamineFiles(const JobFiles& job, const NamedFiles& files, OwnRecordings& own) {
  const absl::StatusOr<CaptureFolder> opened = OpenFolder(PartsPathOf(job, files));
  if (!opened.ok()) return;  // the command that shows the job reports the error
  bool ended = true;
  for (const ProcessFiles& process : opened->processes) {
    const v1::ProcessInfo& info = process.parts.back().process;
    ended = ended && WasRecordedOnThisHost(info) && LivenessOf(info, 0) != ProcessLiveness::kRuns;
    own.of_many_ranks = own.of_many_ranks || info.world_size() > kRanksOfTables;
  }
  if (ended) own.ended.push_back(&files);
}

}  // namespace

void SummarizeOwnRecordings(const std::string& folder, bool any, const std::function<void(const std::string&)>& say,
                            const std::function<void(double)>& progress) {
  // A shared folder can contain recordings of thousands of ranks. Only the recordings of this host are opened.
  const absl::StatusOr<JobFiles> job = ListJobFiles(folder, NamesThisHost);
  if (!job.ok()) return;
  OwnRecordings own;
  for (const NamedFiles& files : job->named) {
    if (!files.parts.empty() && !HasFreshSummary(*job, files)) ExamineFiles(*job, files, own);
  }
  if (any || own.of_many_ranks) WriteSummaries(*job, own.ended, say, progress);
}

}  // namespace memoir
