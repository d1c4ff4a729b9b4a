#include "tools/cli/live/snapshot_request.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <system_error>

#include "tools/read/part_file.h"

namespace memoir {

namespace fs = std::filesystem;

std::string ControlFileOf(const std::string& folder, std::uint64_t pid) {
  constexpr std::string_view kVariable = "MEMOIR_CONTROL=";
  std::ifstream environment("/proc/" + std::to_string(pid) + "/environ");
  for (std::string entry; std::getline(environment, entry, '\0');) {
    if (!entry.starts_with(kVariable) || entry.size() == kVariable.size()) continue;
    const std::string path = entry.substr(kVariable.size());
    if (path[0] == '/') return path;
    std::error_code error;
    const fs::path working = fs::read_symlink("/proc/" + std::to_string(pid) + "/cwd", error);
    if (!error) return (working / path).string();
  }
  return folder + "/control";
}

absl::Status WriteControl(const std::string& path, const std::string& word) {
  const std::string text = word + "\n";
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
  const bool written = file >= 0 && write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int cause = errno;
  if (file >= 0) close(file);
  if (written) return absl::OkStatus();
  return absl::PermissionDeniedError(path + ": cannot be written (" + std::strerror(cause) +
                                     "); only a user who may write there can control the recording");
}

SnapshotRequest::SnapshotRequest(const std::string& folder) : folder_(folder + "/snapshots"), before_(Files()) {}

std::set<std::string> SnapshotRequest::Files() const {
  std::set<std::string> files;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder_, error), end; !error && it != end; it.increment(error)) {
    if (it->path().extension() == ".memoir") files.insert(it->path().string());
  }
  return files;
}

std::optional<std::string> SnapshotRequest::Find() const {
  for (const std::string& file : Files()) {
    if (before_.contains(file)) continue;
    const absl::StatusOr<PartFile> part = OpenPart(file);
    if (part.ok() && part->closed_in_order) return fs::path(file).parent_path().string();
  }
  return std::nullopt;
}

}  // namespace memoir
