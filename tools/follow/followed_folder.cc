#include "tools/follow/followed_folder.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "tools/model/parts/folder_runs.h"

namespace memoir {
namespace {

namespace fs = std::filesystem;

bool AreOfOne(const v1::ProcessInfo& a, const v1::ProcessInfo& b) {
  return a.pid() == b.pid() && a.host() == b.host() && a.start().realtime_ns() == b.start().realtime_ns();
}

std::string FolderOf(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error)) return path;
  const fs::path parent = fs::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

}  // namespace

absl::StatusOr<std::unique_ptr<FollowedFolder>> FollowedFolder::Open(const std::string& path,
                                                                     MakeVisitor make_visitor) {
  const std::string folder = FolderOf(path);
  absl::StatusOr<CaptureFolder> opened = OpenFolder(folder == "." && path != "." ? path : folder);
  if (!opened.ok()) return opened.status();
  std::unique_ptr<FollowedFolder> followed(
      new FollowedFolder(folder, std::move(make_visitor), std::move(opened->symbols)));
  const std::vector<FolderRun> runs = FindRuns(*opened);
  for (std::size_t i = 0; i < opened->processes.size(); ++i) {
    if (std::ranges::binary_search(runs.back().processes, i)) {
      followed->Add(std::move(opened->processes[i]));
      continue;
    }
    for (const PartFile& part : opened->processes[i].parts) followed->others_[part.path] = part.file_bytes;
  }
  return followed;
}

void FollowedFolder::Add(ProcessFiles files) {
  Visitor& visitor = make_visitor_(files.parts.front().process);
  recordings_.push_back(std::make_unique<FollowedRecording>(std::move(files), symbols_, visitor));
}

void FollowedFolder::FindNewFiles() {
  std::error_code error;
  std::vector<std::string> paths;
  for (fs::directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".memoir") paths.push_back(it->path().string());
  }
  gone_ = error == std::errc::no_such_file_or_directory;
  std::ranges::sort(paths);
  for (const std::string& path : paths) {
    if (std::ranges::any_of(recordings_, [&](const auto& recording) { return recording->HasPart(path); })) continue;
    const std::uint64_t bytes = fs::file_size(path, error);
    const auto other = others_.find(path);
    if (error || (other != others_.end() && other->second == bytes)) continue;
    others_[path] = bytes;
    absl::StatusOr<PartFile> part = OpenPart(path);
    // The file is not a complete part yet. It is opened again when its size changes.
    if (!part.ok() || part->chunks.empty() || !part->newer.empty()) continue;
    others_.erase(path);
    const auto of = std::ranges::find_if(
        recordings_, [&](const auto& recording) { return AreOfOne(recording->info(), part->process); });
    if (of != recordings_.end()) {
      (*of)->AddPart(*std::move(part));
    } else {
      ProcessFiles files;
      files.parts.push_back(*std::move(part));
      Add(std::move(files));
    }
  }
}

bool FollowedFolder::ReadNewChunks(CpuBudget& budget, const std::function<bool()>& go_on) {
  FindNewFiles();
  bool any = false;
  for (const std::unique_ptr<FollowedRecording>& recording : recordings_)
    any = recording->ReadNewChunks(budget, go_on) || any;
  return any;
}

}  // namespace memoir
