#include "tools/read/summary_file.h"

#include <dirent.h>
#include <sys/stat.h>
#include <xxhash.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <map>
#include <optional>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "tools/read/protobuf_log.h"
#include "tools/read/regular_file.h"
#include "tools/read/replaced_file.h"

namespace memoir {
namespace {

constexpr std::string_view kPartSuffix = ".memoir";
constexpr std::string_view kPartialSummary = ".memoir-summary.partial-";
constexpr std::string_view kSymbols = "symbols.memoir-symbols";

// Name and number in "r00003.a0.host.123.p0001.memoir". A file without a number has a name that no other part shares.
struct PartName {
  std::string name;
  std::uint32_t part = 0;
};
PartName PartNameOf(std::string_view file) {
  file.remove_suffix(kPartSuffix.size());
  const std::size_t at = file.rfind(".p");
  PartName part;
  if (at == std::string_view::npos || !absl::SimpleAtoi(std::string(file.substr(at + 2)), &part.part))
    return {absl::StrCat(std::string(file), std::string(kPartSuffix)), 0};
  part.name = std::string(file.substr(0, at));
  return part;
}

std::uint64_t NanosecondsOf(const timespec& time) {
  return static_cast<std::uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<std::uint64_t>(time.tv_nsec);
}

void TakeFile(const std::string& file, const struct stat& status, std::map<std::string, NamedFiles>& named,
              JobFiles& job) {
  const auto bytes = static_cast<std::uint64_t>(status.st_size);
  if (file == kSymbols) job.symbol_bytes = bytes;
  if (file.ends_with(kSummarySuffix)) {
    NamedFiles& files = named[file.substr(0, file.size() - std::strlen(kSummarySuffix))];
    files.has_summary = true;
    files.summary_ns = NanosecondsOf(status.st_mtim);
  }
  if (const std::size_t at = file.find(kPartialSummary); at != std::string::npos)
    named[file.substr(0, at)].has_partial = true;
  if (!file.ends_with(kPartSuffix)) return;
  const PartName name = PartNameOf(file);
  NamedFiles& files = named[name.name];
  v1::SummarizedPart part;
  part.set_part(name.part);
  part.set_bytes(bytes);
  files.parts.push_back(part);
  files.newest_ns = std::max(files.newest_ns, NanosecondsOf(status.st_mtim));
}

absl::Status CannotList(const std::string& folder, int error) {
  const std::string line = absl::StrCat(folder, ": cannot be listed (", std::strerror(error), ")");
  return error == ENOENT || error == ENOTDIR ? absl::NotFoundError(line) : absl::PermissionDeniedError(line);
}

bool SamePart(const v1::SummarizedPart& a, const v1::SummarizedPart& b) {
  return a.part() == b.part() && a.bytes() == b.bytes();
}

bool HasEnded(const v1::RecordingSummary& recording) { return recording.end().reason() != v1::End::UNKNOWN; }

}  // namespace

absl::StatusOr<v1::RecordingSummaries> ParseSummaryFile(std::string_view bytes) {
  SilenceProtobuf();
  v1::SummaryFile file;
  if (bytes.empty() || bytes.size() > kMostSummaryBytes ||
      !file.ParseFromArray(bytes.data(), static_cast<int>(bytes.size())))
    return absl::InvalidArgumentError("damaged");
  if (file.format_version() != kSummaryVersion)
    return absl::UnimplementedError(absl::StrCat("of version ", file.format_version()));
  const std::string& recordings = file.recordings();
  v1::RecordingSummaries summaries;
  if (XXH64(recordings.data(), recordings.size(), 0) != file.checksum() || !summaries.ParseFromString(recordings) ||
      summaries.recording().empty())
    return absl::InvalidArgumentError("damaged");
  return summaries;
}

absl::StatusOr<std::string> ReadSummaryBytes(const std::string& path) {
  const absl::StatusOr<RegularFile> file = RegularFile::Open(path);
  if (absl::IsNotFound(file.status())) return file.status();
  if (!file.ok()) return absl::InvalidArgumentError(std::string(file.status().message()));
  if (file->bytes() > kMostSummaryBytes) return absl::InvalidArgumentError("larger than 64 KiB");
  absl::StatusOr<std::string> bytes = file->Read(kMostSummaryBytes);
  if (!bytes.ok()) return absl::InvalidArgumentError(std::string(bytes.status().message()));
  return bytes;
}

absl::StatusOr<v1::RecordingSummaries> ReadSummaryFile(const std::string& path) {
  const absl::StatusOr<std::string> bytes = ReadSummaryBytes(path);
  return bytes.ok() ? ParseSummaryFile(*bytes) : bytes.status();
}

absl::StatusOr<std::string> SummaryFileBytes(const v1::RecordingSummaries& summaries) {
  v1::SummaryFile file;
  std::string bytes;
  if (!summaries.SerializeToString(file.mutable_recordings()))
    return absl::InvalidArgumentError("cannot be serialized");
  file.set_format_version(kSummaryVersion);
  file.set_checksum(XXH64(file.recordings().data(), file.recordings().size(), 0));
  if (!file.SerializeToString(&bytes) || bytes.size() > kMostSummaryBytes)
    return absl::ResourceExhaustedError("a summary would take more than 64 KiB");
  return bytes;
}

absl::Status WriteSummaryFile(const std::string& path, const v1::RecordingSummaries& summaries) {
  const absl::StatusOr<std::string> bytes = SummaryFileBytes(summaries);
  if (!bytes.ok())
    return absl::ResourceExhaustedError(
        absl::StrCat(path, ": ", std::string(bytes.status().message()), ", and is not written"));
  return CreateOrReplaceFile(path, *bytes);
}

std::string RankFilePrefix(std::uint32_t rank) { return absl::StrCat("r", absl::Dec(rank, absl::kZeroPad5), ".a"); }

std::string SummaryPathOf(const JobFiles& job, const NamedFiles& files) {
  return absl::StrCat(job.folder, "/", files.name, kSummarySuffix);
}

std::string PartsPathOf(const JobFiles& job, const NamedFiles& files) {
  return absl::StrCat(job.folder, "/", files.name);
}

absl::StatusOr<JobFiles> ListJobFiles(const std::string& folder,
                                      const std::function<bool(const std::string& file)>& wanted) {
  DIR* const listed = opendir(folder.c_str());
  if (listed == nullptr) return CannotList(folder, errno);
  JobFiles job;
  job.folder = folder;
  std::map<std::string, NamedFiles> named;
  while (const dirent* const entry = readdir(listed)) {
    const std::string file = entry->d_name;
    struct stat status;
    const bool ours = file == kSymbols || file.ends_with(kSummarySuffix) || file.ends_with(kPartSuffix) ||
                      file.find(kPartialSummary) != std::string::npos;
    if (!ours || (wanted && file != kSymbols && !wanted(file))) continue;
    if (fstatat(dirfd(listed), entry->d_name, &status, 0) == 0) TakeFile(file, status, named, job);
  }
  closedir(listed);
  for (auto& [name, files] : named) {
    if (files.parts.empty() && !files.has_summary) continue;
    files.name = name;
    std::ranges::sort(files.parts, {}, &v1::SummarizedPart::part);
    job.named.push_back(std::move(files));
  }
  return job;
}

SummaryAge SummaryAgeOf(const v1::RecordingSummaries& summaries, const NamedFiles& files, std::uint64_t symbol_bytes) {
  const auto& made_of = summaries.parts();
  // The summary file was renamed or copied: it describes another recording, whose parts may have the same sizes.
  if (summaries.name() != files.name) return SummaryAge::kOlder;
  if (files.parts.empty()) return SummaryAge::kFresh;  // no parts are left to read
  if (summaries.symbol_bytes() != symbol_bytes) return SummaryAge::kOlder;
  const bool same = std::ranges::equal(made_of, files.parts, SamePart);
  if (same) return SummaryAge::kFresh;
  const v1::RecordingSummary& newest = summaries.recording(summaries.recording_size() - 1);
  const bool runs = !HasEnded(newest) && files.summary_ns + kMostBehindNs >= files.newest_ns;
  const bool grown = !made_of.empty() && !files.parts.empty() &&
                     files.parts.back().part() == made_of.rbegin()->part() &&
                     files.parts.back().bytes() > made_of.rbegin()->bytes();
  return runs && grown ? SummaryAge::kBehind : SummaryAge::kOlder;
}

}  // namespace memoir
