#include "tools/cli/attach/listed_rings.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "tools/cli/process/child_process.h"

namespace memoir {
namespace {

// Returns the folder in MEMOIR_RING_DIR, and the folders that the tracker uses if MEMOIR_RING_DIR is not set.
std::vector<std::string> RingFolders() {
  const char* chosen = std::getenv("MEMOIR_RING_DIR");
  const char* temporary = std::getenv("TMPDIR");
  std::vector<std::string> folders;
  for (const char* folder : {chosen, "/dev/shm", temporary, "/tmp"}) {
    if (folder == nullptr || *folder == '\0') continue;
    std::error_code error;
    const std::filesystem::path path = std::filesystem::canonical(folder, error);
    if (!error && std::ranges::find(folders, path.string()) == folders.end()) folders.push_back(path.string());
  }
  return folders;
}

}  // namespace

std::vector<ListedRing> ListDeadRings(const InstallTree& tree, bool clean) {
  constexpr int kPatienceSeconds = 600;  // a merge takes less than a second, unless the disk is full
  std::vector<std::string> command = {tree.drain.string(), clean ? "--clean" : "--list"};
  for (const std::string& folder : RingFolders()) command.push_back(folder);
  const auto output = CaptureOutput(command, kPatienceSeconds);
  std::vector<ListedRing> rings;
  if (!output.ok()) return rings;
  for (const auto line : absl::StrSplit(*output, '\n')) {
    const std::vector<std::string> fields = absl::StrSplit(line, '\t');
    ListedRing ring;
    if (fields.size() != 5 || !absl::SimpleAtoi(fields[1], &ring.bytes)) continue;
    ring.path = fields[0];
    ring.pid = fields[2];
    ring.state = fields[3];
    ring.text = fields[4];
    rings.push_back(std::move(ring));
  }
  return rings;
}

}  // namespace memoir
