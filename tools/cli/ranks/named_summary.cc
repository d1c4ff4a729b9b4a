#include "tools/cli/ranks/named_summary.h"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <thread>
#include <vector>

#include "tools/analyze/ranks/job/recording_summary.h"
#include "tools/cli/attach/ring_merge.h"
#include "tools/model/capture.h"
#include "tools/model/parts/pending_ring.h"
#include "tools/read/replaced_file.h"

namespace memoir {
namespace {

// Lists the files again, after a ring was merged. Call it before the parts are read: if a part grows later, the summary
// then counts as older.
absl::StatusOr<NamedFiles> ListedAgain(const JobFiles& job, const NamedFiles& files) {
  const absl::StatusOr<JobFiles> again = ListJobFiles(job.folder);
  if (!again.ok()) return again.status();
  const auto found = std::ranges::find(again->named, files.name, &NamedFiles::name);
  return found == again->named.end() ? files : *found;
}

}  // namespace

SummaryAge AgeHere(const v1::RecordingSummaries& summaries, const JobFiles& job, const NamedFiles& files) {
  const bool lacks_ring = std::ranges::any_of(summaries.recording(), [](const v1::RecordingSummary& recording) {
    return recording.end().reason() == v1::End::UNKNOWN && !FindPendingRing(recording.process()).empty();
  });
  return lacks_ring && !files.parts.empty() ? SummaryAge::kOlder : SummaryAgeOf(summaries, files, job.symbol_bytes);
}

bool HasFreshSummary(const JobFiles& job, const NamedFiles& files) {
  if (!files.has_summary) return false;
  const absl::StatusOr<v1::RecordingSummaries> summaries = ReadSummaryFile(SummaryPathOf(job, files));
  return summaries.ok() && AgeHere(*summaries, job, files) == SummaryAge::kFresh;
}

absl::StatusOr<v1::RecordingSummaries> SummaryOfNamed(const JobFiles& job, const NamedFiles& files,
                                                      const std::function<void(const std::string&)>& say) {
  static std::mutex opening;  // a merge starts a process, which only one thread may do at a time
  NamedFiles made_of = files;
  absl::StatusOr<Capture> capture = absl::UnknownError("");
  {
    const std::lock_guard lock(opening);
    bool merged = false;
    capture = OpenMerged(
        PartsPathOf(job, files),
        [&](const std::string& line) {
          merged = true;
          say(line);
        },
        kAllRuns);
    if (!capture.ok()) return capture.status();
    if (merged) {
      const absl::StatusOr<NamedFiles> again = ListedAgain(job, files);
      if (again.ok()) made_of = *again;
    }
  }
  absl::StatusOr<v1::RecordingSummaries> summaries = SummarizeRecordings(*capture);
  if (!summaries.ok()) return summaries.status();
  for (const v1::SummarizedPart& part : made_of.parts) *summaries->add_parts() = part;
  summaries->set_name(files.name);
  summaries->set_symbol_bytes(job.symbol_bytes);
  return summaries;
}

std::size_t WriteSummaries(const JobFiles& job, const std::vector<const NamedFiles*>& named,
                           const std::function<void(const std::string&)>& say,
                           const std::function<void(double)>& progress) {
  std::mutex saying;
  std::atomic<std::size_t> failed = 0;
  const auto say_one = [&](const std::string& line) {
    const std::lock_guard lock(saying);
    say(line);
  };
  RunInParallel(
      named.size(),
      [&](std::size_t i) {
        const std::string path = SummaryPathOf(job, *named[i]);
        if (named[i]->has_partial) RemovePartial(path);
        const absl::StatusOr<v1::RecordingSummaries> summaries = SummaryOfNamed(job, *named[i], say_one);
        const absl::Status written = summaries.ok() ? WriteSummaryFile(path, *summaries) : summaries.status();
        if (written.ok()) return;
        ++failed;
        say_one(std::string(written.message()));
      },
      progress);
  return failed;
}

void RunInParallel(std::size_t count, const std::function<void(std::size_t)>& body,
                   const std::function<void(double)>& progress) {
  std::atomic<std::size_t> next = 0;
  std::mutex showing;
  std::size_t done = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      body(i);
      const std::lock_guard lock(showing);
      progress(static_cast<double>(++done) / static_cast<double>(count));
    }
  };
  const std::size_t threads =
      std::min({count, kMostAtOnce, static_cast<std::size_t>(std::max(1u, std::thread::hardware_concurrency()))});
  std::vector<std::thread> others;
  for (std::size_t i = 1; i < threads; ++i) others.emplace_back(work);
  work();
  for (std::thread& other : others) other.join();
}

}  // namespace memoir
