#include "tools/cli/ranks/merge.h"

#include <mutex>
#include <utility>

#include "fmt/format.h"
#include "tools/cli/ranks/named_summary.h"
#include "tools/cli/ranks/requested_recordings.h"
#include "tools/read/merged_summaries.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

// Returns the bytes of the existing summary file if an overview would use this file; otherwise the bytes of a new
// summary.
absl::StatusOr<std::string> SummaryBytesOf(const JobFiles& job, const NamedFiles& files,
                                           const std::function<void(const std::string&)>& say) {
  absl::StatusOr<std::string> bytes = ReadSummaryBytes(SummaryPathOf(job, files));
  absl::StatusOr<v1::RecordingSummaries> summaries = bytes.ok() ? ParseSummaryFile(*bytes) : bytes.status();
  if (summaries.ok() && AgeHere(*summaries, job, files) != SummaryAge::kOlder) return bytes;
  if (!files.parts.empty()) summaries = SummaryOfNamed(job, files, say);
  if (!summaries.ok()) return summaries.status();
  return SummaryFileBytes(*summaries);
}

std::string WithPath(const std::string& path, const absl::Status& status) {
  const std::string said(status.message());
  return said.find(path) == std::string::npos ? fmt::format("{}: {}", path, said) : said;
}

class Merging {
 public:
  Merging(const std::function<void(const std::string&)>& say, const std::function<void(double)>& progress)
      : say_(say), progress_(progress) {}

  absl::Status Take(const std::string& capture) {
    if (IsMergedSummaries(capture)) return TakeMerged(capture);
    const absl::StatusOr<RequestedRecordings> asked = RecordingsOf(capture, RecordingScope::kSummariesToo);
    if (!asked.ok()) return asked.status();
    RunInParallel(asked->named.size(), [&](std::size_t i) { TakeNamed(asked->job, *asked->named[i]); }, progress_);
    return absl::OkStatus();
  }

  absl::StatusOr<MergeResult> Write(const std::string& output) {
    if (summaries_.size() == 0) return absl::NotFoundError("no summary could be made: " + output + " is not written");
    if (const absl::Status written = summaries_.Write(output); !written.ok()) return written;
    return MergeResult{summaries_.size(), failed_};
  }

 private:
  void Fail(const std::string& line) {
    ++failed_;
    say_(line);
  }

  void TakeNamed(const JobFiles& job, const NamedFiles& files) {
    const auto say_one = [&](const std::string& line) {
      const std::lock_guard lock(taking_);
      say_(line);
    };
    absl::StatusOr<std::string> bytes = SummaryBytesOf(job, files, say_one);
    const std::lock_guard lock(taking_);
    const absl::Status added = bytes.ok() ? summaries_.Add(*std::move(bytes)) : bytes.status();
    if (!added.ok()) Fail(WithPath(PartsPathOf(job, files), added));
  }

  absl::Status TakeMerged(const std::string& path) {
    absl::StatusOr<SalvagedSummaries> read = ReadMergedSummaries(path);
    if (!read.ok()) return read.status();
    for (NamedFiles& files : std::move(read->summaries).TakeJobFiles(path).named) {
      const absl::Status added = summaries_.Add(std::move(files.summary));
      if (!added.ok()) Fail(fmt::format("{}: {}", path, std::string(added.message())));
    }
    if (read->damaged == 0) return absl::OkStatus();
    failed_ += read->damaged - 1;
    Fail(fmt::format("{}: damaged, {} or more of its summaries are left out", path, FormatCount(read->damaged)));
    return absl::OkStatus();
  }

  const std::function<void(const std::string&)>& say_;
  const std::function<void(double)>& progress_;
  std::mutex taking_;
  MergedSummaries summaries_;
  std::size_t failed_ = 0;
};

}  // namespace

absl::StatusOr<MergeResult> MergeSummaries(const std::vector<std::string>& captures, const std::string& output,
                                           const std::function<void(const std::string&)>& say,
                                           const std::function<void(double)>& progress) {
  Merging merging(say, progress);
  for (const std::string& capture : captures) {
    if (const absl::Status taken = merging.Take(capture); !taken.ok()) return taken;
  }
  return merging.Write(output);
}

}  // namespace memoir
