#include "tools/read/folder.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>
#include <tuple>

#include <google/protobuf/stubs/logging.h>

#include "absl/strings/str_cat.h"

namespace memoir {
namespace {

namespace fs = std::filesystem;

constexpr char kSuffix[] = ".memoir";

absl::Status NotFound(const std::string& path, const std::string& why) {
  return absl::NotFoundError(absl::StrCat(path, ": ", why));
}

absl::StatusOr<std::vector<std::string>> ListParts(const std::string& path) {
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (!fs::exists(status)) return NotFound(path, "no such file or folder; a capture is the folder that `memoir run` wrote");
  if (!fs::is_directory(status)) return std::vector<std::string>{path};
  std::vector<std::string> paths;
  bool any_file = false;
  for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) {
    any_file = true;
    if (it->path().extension() == kSuffix) paths.push_back(it->path().string());
  }
  if (error) return absl::PermissionDeniedError(absl::StrCat(path, ": cannot be listed (", error.message(), ")"));
  if (!any_file) return NotFound(path, "an empty folder, not a capture; record one with `memoir run -- COMMAND`");
  if (paths.empty()) return NotFound(path, "a folder without *.memoir files, not a capture; give the folder that `memoir run` wrote");
  std::sort(paths.begin(), paths.end());
  return paths;
}

// Refusing is for what cannot be read at all; one bad file among good ones is damage.
struct Opened {
  std::vector<PartFile> parts;
  std::vector<Damage> damage;
  absl::Status first_error;
};

absl::StatusOr<Opened> OpenParts(const std::vector<std::string>& paths) {
  Opened opened;
  for (const std::string& path : paths) {
    absl::StatusOr<PartFile> part = OpenPart(path);
    if (absl::IsUnimplemented(part.status())) return part.status();
    if (part.ok()) {
      if (part->damage) opened.damage.push_back(*part->damage);
      opened.parts.push_back(*std::move(part));
      continue;
    }
    const bool cut = absl::IsDataLoss(part.status());
    opened.damage.push_back({path, 0, cut ? "cut before its first chunk was complete" : "not a part of a capture"});
    opened.first_error.Update(part.status());
  }
  if (opened.parts.empty()) return opened.first_error;
  return opened;
}

std::vector<ProcessFiles> GroupByProcess(std::vector<PartFile> parts) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint64_t, std::string, std::uint64_t>, ProcessFiles> processes;
  for (PartFile& part : parts) {
    const v1::ProcessInfo& info = part.process;
    processes[{info.rank(), info.restart(), info.start().realtime_ns(), info.host(), info.pid()}].parts.push_back(std::move(part));
  }
  std::vector<ProcessFiles> result;
  for (auto& [key, process] : processes) {
    std::stable_sort(process.parts.begin(), process.parts.end(),
                     [](const PartFile& a, const PartFile& b) { return a.process.part() < b.process.part(); });
    result.push_back(std::move(process));
  }
  return result;
}

}  // namespace

absl::StatusOr<CaptureFolder> OpenFolder(const std::string& path) {
  // libprotobuf would write a line of its own to stderr for text that is not UTF-8; damage is said once, and by us.
  [[maybe_unused]] static const auto previous = google::protobuf::SetLogHandler(nullptr);
  absl::StatusOr<std::vector<std::string>> paths = ListParts(path);
  if (!paths.ok()) return paths.status();
  absl::StatusOr<Opened> opened = OpenParts(*paths);
  if (!opened.ok()) return opened.status();
  CaptureFolder folder;
  folder.damage = std::move(opened->damage);
  folder.processes = GroupByProcess(std::move(opened->parts));
  return folder;
}

}  // namespace memoir
