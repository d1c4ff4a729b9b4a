#include "tools/read/merged_summaries.h"

#include <algorithm>
#include <limits>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "tools/read/protobuf_log.h"
#include "tools/read/regular_file.h"
#include "tools/read/replaced_file.h"

namespace memoir {
namespace {

// The largest file that protobuf accepts: 32,000 summaries of the largest size, or half a million summaries of the
// usual size.
constexpr std::uint64_t kMostMergedBytes = std::numeric_limits<int>::max();

}  // namespace

bool IsMergedSummaries(std::string_view path) { return path.ends_with(kMergedSuffix); }

bool MergedSummaries::File::operator<(const File& other) const {
  return std::tie(last_part, last_part_bytes, all_bytes, bytes) <
         std::tie(other.last_part, other.last_part_bytes, other.all_bytes, other.bytes);
}

absl::Status MergedSummaries::Add(std::string bytes) {
  const absl::StatusOr<v1::RecordingSummaries> summaries = ParseSummaryFile(bytes);
  if (!summaries.ok()) return summaries.status();
  File file;
  file.bytes = std::move(bytes);
  for (const v1::SummarizedPart& part : summaries->parts()) {
    file.all_bytes += part.bytes();
    if (part.part() < file.last_part) continue;
    file.last_part = part.part();
    file.last_part_bytes = part.bytes();
  }
  std::uint64_t start_ns = std::numeric_limits<std::uint64_t>::max();
  for (const v1::RecordingSummary& recording : summaries->recording())
    start_ns = std::min(start_ns, recording.process().start().realtime_ns());
  File& kept = files_[{summaries->name(), start_ns}];
  if (kept < file) kept = std::move(file);
  return absl::OkStatus();
}

absl::Status MergedSummaries::Write(const std::string& path) const {
  v1::SummaryFiles merged;
  for (const auto& [key, file] : files_) merged.add_files(file.bytes);
  std::string bytes;
  if (merged.ByteSizeLong() > kMostMergedBytes || !merged.SerializeToString(&bytes))
    return absl::FailedPreconditionError(
        absl::StrCat(path, ": would be larger than 2 GiB, and is not written; merge fewer summaries into one file"));
  RemovePartial(path);
  return ReplaceFile(path, bytes);
}

JobFiles MergedSummaries::TakeJobFiles(const std::string& path) && {
  JobFiles job;
  job.folder = path;
  for (auto& [key, file] : files_) {
    NamedFiles& named = job.named.emplace_back();
    named.name = key.first;
    named.has_summary = true;
    named.summary = std::move(file.bytes);
  }
  return job;
}

absl::StatusOr<SalvagedSummaries> ReadMergedSummaries(const std::string& path) {
  SilenceProtobuf();
  const absl::StatusOr<RegularFile> file = RegularFile::Open(path);
  const auto said = [&](const absl::Status& status) {
    return absl::Status(status.code(), absl::StrCat(path, ": ", std::string(status.message())));
  };
  if (!file.ok()) return said(file.status());
  if (file->bytes() > kMostMergedBytes)
    return absl::InvalidArgumentError(path + ": larger than 2 GiB, which no file of summaries is");
  v1::SummaryFiles files;
  bool whole = false;
  {
    const absl::StatusOr<std::string> bytes = file->Read(kMostMergedBytes);
    if (!bytes.ok()) return said(bytes.status());
    // The summaries before the damage are still used.
    whole = files.ParseFromArray(bytes->data(), static_cast<int>(bytes->size())) &&
            files.GetReflection()->GetUnknownFields(files).empty();
  }
  SalvagedSummaries read;
  for (std::string& bytes : *files.mutable_files()) {
    if (!read.summaries.Add(std::move(bytes)).ok()) ++read.damaged;
  }
  if (!whole && read.damaged == 0) read.damaged = 1;
  if (read.summaries.size() == 0)
    return absl::InvalidArgumentError(path + ": no summary in it can be read; `memoir summarize -o` makes such files");
  return read;
}

}  // namespace memoir
