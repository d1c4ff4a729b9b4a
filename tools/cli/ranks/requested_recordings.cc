#include "tools/cli/ranks/requested_recordings.h"

#include <filesystem>
#include <system_error>
#include <utility>

#include "tools/model/parts/process_liveness.h"

namespace memoir {
namespace {

// A folder, and the requested name in it. `name`: "" for all names.
struct CapturePlace {
  std::string folder, name;
};

CapturePlace PlaceOf(const std::string& capture) {
  std::error_code error;
  if (std::filesystem::is_directory(capture, error)) return {capture, ""};
  const std::filesystem::path path(capture);
  const std::string folder = path.has_parent_path() ? path.parent_path().string() : ".";
  std::string name = path.filename().string();
  if (name.ends_with(kSummarySuffix)) return {folder, name.substr(0, name.size() - std::string(kSummarySuffix).size())};
  const std::size_t part = name.rfind(".p");
  if (name.ends_with(".memoir") && part != std::string::npos) name.resize(part);
  return {folder, name};
}

}  // namespace

absl::StatusOr<RequestedRecordings> RecordingsOf(const std::string& capture, RecordingScope wanted) {
  const CapturePlace place = PlaceOf(capture);
  absl::StatusOr<JobFiles> job =
      wanted == RecordingScope::kOfThisHost ? ListJobFiles(place.folder, NamesThisHost) : ListJobFiles(place.folder);
  if (!job.ok()) return job.status();
  RequestedRecordings asked{.job = *std::move(job), .named = {}};
  for (const NamedFiles& files : asked.job.named) {
    if (files.parts.empty() && wanted != RecordingScope::kSummariesToo) continue;
    if (place.name.empty() || files.name == place.name) asked.named.push_back(&files);
  }
  if (asked.named.empty() && wanted == RecordingScope::kOfThisHost)
    return absl::NotFoundError(capture + ": no recording of this host; without --own those of all hosts are taken");
  if (asked.named.empty())
    return absl::NotFoundError(capture + ": no recording; give the folder that `memoir run` wrote");
  return asked;
}

bool NamesThisHost(const std::string& name) {
  static const std::string own = NameOfThisHost();
  return !own.empty() && name.find("." + own + ".") != std::string::npos;
}

}  // namespace memoir
