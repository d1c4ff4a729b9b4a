#include "tools/cli/ranks/job_reader.h"

#include <algorithm>
#include <filesystem>
#include <mutex>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/analyze/ranks/job/job_summary_builder.h"
#include "tools/cli/ranks/named_summary.h"
#include "tools/model/capture.h"
#include "tools/model/parts/folder_runs.h"
#include "tools/read/capture_folder.h"
#include "tools/read/merged_summaries.h"
#include "tools/read/summary_file.h"

namespace memoir {
namespace {

// The files that share a name in the folder (NamedFiles), and the recordings in them that belong to the selected run.
struct NamedRecordings {
  const NamedFiles* files = nullptr;
  // The serialized summary, which is several times smaller than the message. "" if there is no usable summary, so that
  // the parts must be read.
  std::string packed;
  std::set<std::uint64_t> wanted;  // starts of the selected run's recordings
  bool unreadable = false;
};

// Returns the process of a summary, its start and its end, in the form that folder_runs.h needs.
ProcessFiles FilesOfSummary(const v1::RecordingSummary& recording) {
  PartFile part;
  part.process = recording.process();
  ChunkHeader chunk;
  const double ticks =
      static_cast<double>(recording.duration_ns()) * 1e-9 * static_cast<double>(recording.process().ticks_per_second());
  constexpr double kMostTicks = 1e18;  // more only with a damaged clock
  chunk.last_tick = recording.process().start().tick() + static_cast<std::uint64_t>(std::min(ticks, kMostTicks));
  part.chunks.push_back(chunk);
  ProcessFiles files;
  files.parts.push_back(std::move(part));
  return files;
}

// Like FilesOfSummary(), for the process of an opened recording. The result has one chunk with the last tick, because
// the headers of all chunks of many ranks need much memory.
ProcessFiles ShortenedFiles(const ProcessFiles& process) {
  PartFile part;
  part.process = process.parts.back().process;
  ChunkHeader chunk;
  for (const PartFile& of : process.parts) {
    for (const ChunkHeader& header : of.chunks) chunk.last_tick = std::max(chunk.last_tick, header.last_tick);
  }
  part.chunks.push_back(chunk);
  ProcessFiles files;
  files.parts.push_back(std::move(part));
  return files;
}

std::uint64_t StartOf(const ProcessFiles& process) { return process.parts.front().process.start().realtime_ns(); }

class JobReader {
 public:
  JobReader(const JobFiles& job, const JobReadOptions& options) : job_(job), options_(options) {}

  absl::StatusOr<std::optional<LoadedJob>> Read() {
    for (const NamedFiles& files : job_.named) TakeNamed(files);
    if (folder_.processes.empty()) return RefusalStatus();
    if (const absl::Status chosen = ChooseRun(); !chosen.ok()) return chosen;
    if (!options_.asked && Ranks() <= kRanksOfTables && !OnlySummaries()) return std::optional<LoadedJob>();
    reading_.folder = job_.folder;
    reading_.has_recordings = !OnlySummaries();
    TakeSummaries();
    TakeRecordings();
    reading_.job = book_.Take();
    return std::optional(std::move(reading_));
  }

 private:
  void AddLackingSummary(const NamedFiles& files, SummaryLack lack, const std::string& why,
                         std::uint64_t behind_ns = 0) {
    reading_.lacking.push_back({files.name, lack, why, behind_ns});
  }

  // Returns the summary. nullopt if it is missing, damaged, or older than the recording.
  std::optional<v1::RecordingSummaries> UsableSummary(const NamedFiles& files) {
    if (!files.has_summary) {
      AddLackingSummary(files, SummaryLack::kMissing, "");
      return std::nullopt;
    }
    absl::StatusOr<v1::RecordingSummaries> summaries =
        files.summary.empty() ? ReadSummaryFile(SummaryPathOf(job_, files)) : ParseSummaryFile(files.summary);
    if (!summaries.ok()) {
      AddLackingSummary(files, SummaryLack::kDamaged, std::string(summaries.status().message()));
      return std::nullopt;
    }
    switch (AgeHere(*summaries, job_, files)) {
      case SummaryAge::kOlder:
        AddLackingSummary(files, SummaryLack::kOlder, "");
        return std::nullopt;
      case SummaryAge::kBehind:
        AddLackingSummary(files, SummaryLack::kBehind, "",
                          files.newest_ns - std::min(files.newest_ns, files.summary_ns));
        break;
      case SummaryAge::kFresh:
        break;
    }
    return *std::move(summaries);
  }

  void TakeNamed(const NamedFiles& files) {
    NamedRecordings named{.files = &files, .packed = {}, .wanted = {}};
    const std::optional<v1::RecordingSummaries> summaries = UsableSummary(files);
    if (summaries) {
      for (const v1::RecordingSummary& recording : summaries->recording()) AddProcess(FilesOfSummary(recording));
      named.packed = summaries->SerializeAsString();
    } else if (files.parts.empty()) {
      named.unreadable = true;
      reading_.unreadable.push_back(files.name + ": there is no recording either");
    } else {
      absl::StatusOr<CaptureFolder> opened = OpenFolder(PartsPathOf(job_, files));
      if (!opened.ok()) {
        named.unreadable = true;
        first_error_.Update(opened.status());
        reading_.unreadable.push_back(absl::StrCat(files.name, ": ", std::string(opened.status().message())));
      } else {
        for (const ProcessFiles& process : opened->processes) AddProcess(ShortenedFiles(process));
      }
    }
    named_.push_back(std::move(named));
  }

  void AddProcess(ProcessFiles process) {
    of_named_.push_back(named_.size());
    folder_.processes.push_back(std::move(process));
  }

  absl::Status RefusalStatus() const {
    if (!first_error_.ok()) return first_error_;
    return absl::NotFoundError(job_.folder + ": no summary in it can be read, and there is no recording");
  }

  absl::Status ChooseRun() {
    const std::vector<FolderRun> runs = FindRuns(folder_);
    reading_.runs = static_cast<std::uint32_t>(runs.size());
    reading_.run = options_.run == kLastRun ? reading_.runs : options_.run;
    if (reading_.run > reading_.runs)
      return absl::NotFoundError(absl::StrCat(job_.folder, ": there is no run ", reading_.run, "; it has ",
                                              reading_.runs, reading_.runs == 1 ? " run" : " runs"));
    for (std::size_t i = 0; i < runs.size(); ++i) {
      if (reading_.run != kAllRuns && reading_.run != i + 1) continue;
      for (const std::size_t process : runs[i].processes) {
        named_[of_named_[process]].wanted.insert(StartOf(folder_.processes[process]));
        const v1::ProcessInfo& info = folder_.processes[process].parts.back().process;
        if (HasRank(info)) ranks_.emplace(info.rank());
      }
    }
    folder_ = {};
    std::set<std::string_view> of_other_runs;
    for (const NamedRecordings& named : named_) {
      if (named.wanted.empty() && !named.unreadable) of_other_runs.insert(named.files->name);
    }
    std::erase_if(reading_.lacking,
                  [&](const LackingSummary& lacking) { return of_other_runs.contains(lacking.name); });
    return absl::OkStatus();
  }

  std::size_t Ranks() const { return ranks_.size(); }
  bool OnlySummaries() const {
    return std::ranges::all_of(job_.named, [](const NamedFiles& files) { return files.parts.empty(); });
  }

  void Add(const v1::RecordingSummaries& summaries, const NamedRecordings& named) {
    for (const v1::RecordingSummary& recording : summaries.recording()) {
      if (!named.wanted.contains(recording.process().start().realtime_ns())) continue;
      if (ranks_.empty()) {
        AddNumbered(recording);
        continue;
      }
      book_.Add(recording);
      if (options_.each) options_.each(recording);
    }
  }

  // Adds a recording of a job without ranks. Each process of such a job counts as rank 0, as in Capture.
  void AddNumbered(v1::RecordingSummary recording) {
    recording.mutable_process()->clear_rank_source();
    book_.Add(recording);
    if (options_.each) options_.each(recording);
  }

  void TakeSummaries() {
    for (NamedRecordings& named : named_) {
      if (named.packed.empty() || named.wanted.empty()) continue;
      v1::RecordingSummaries summaries;
      if (!summaries.ParseFromString(named.packed)) continue;  // cannot happen, because it was parsed before
      Add(summaries, named);
      ++reading_.summaries;
      std::string().swap(named.packed);
      named.wanted.clear();
    }
  }

  void TakeRecordings() {
    std::vector<const NamedRecordings*> left;
    for (const NamedRecordings& named : named_) {
      if (!named.wanted.empty()) left.push_back(&named);
    }
    std::mutex adding;
    const auto say = [&](const std::string& line) { options_.say(line); };
    RunInParallel(
        left.size(),
        [&](std::size_t i) {
          const auto summaries = SummaryOfNamed(job_, *left[i]->files, say);
          const std::lock_guard lock(adding);
          if (summaries.ok()) {
            Add(*summaries, *left[i]);
          } else {
            reading_.unreadable.push_back(
                absl::StrCat(left[i]->files->name, ": ", std::string(summaries.status().message())));
          }
        },
        options_.progress);
    std::ranges::sort(reading_.unreadable);
  }

  const JobFiles& job_;
  const JobReadOptions& options_;
  std::vector<NamedRecordings> named_;
  CaptureFolder folder_;               // all recordings; only for folder_runs.h
  std::vector<std::size_t> of_named_;  // by process in `folder_`
  std::set<std::uint32_t> ranks_;      // ranks of the run
  absl::Status first_error_;
  JobSummaryBuilder book_;
  LoadedJob reading_;
};

absl::StatusOr<std::optional<LoadedJob>> ReadMergedJob(const std::string& path, const JobReadOptions& options) {
  absl::StatusOr<SalvagedSummaries> merged = ReadMergedSummaries(path);
  if (!merged.ok()) return merged.status();
  const JobFiles job = std::move(merged->summaries).TakeJobFiles(path);
  absl::StatusOr<std::optional<LoadedJob>> reading = JobReader(job, options).Read();
  if (reading.ok() && reading->has_value() && merged->damaged > 0)
    (*reading)->unreadable.push_back(absl::StrCat(path, ": damaged, ", merged->damaged, " or more of its summaries"));
  return reading;
}

}  // namespace

absl::StatusOr<std::optional<LoadedJob>> ReadJob(const std::string& folder, const JobReadOptions& options) {
  std::error_code error;
  if (IsMergedSummaries(folder) && std::filesystem::is_regular_file(folder, error))
    return ReadMergedJob(folder, options);
  if (!std::filesystem::is_directory(folder, error)) {
    if (!options.asked) return std::optional<LoadedJob>();
    if (!std::filesystem::exists(folder, error)) return absl::NotFoundError(folder + ": no such file or folder");
    return absl::InvalidArgumentError(folder + ": an overview needs the folder of a job");
  }
  const absl::StatusOr<JobFiles> job = ListJobFiles(folder);
  if (!job.ok()) return job.status();
  const bool recorded = std::ranges::any_of(job->named, [](const NamedFiles& files) { return !files.parts.empty(); });
  if (job->named.empty() || (!options.asked && recorded && job->named.size() <= kRanksOfTables)) {
    if (options.asked) return absl::NotFoundError(folder + ": a folder without recordings or summaries");
    return std::optional<LoadedJob>();
  }
  return JobReader(*job, options).Read();
}

}  // namespace memoir
