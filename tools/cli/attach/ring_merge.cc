#include "tools/cli/attach/ring_merge.h"

#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "tools/cli/attach/listed_rings.h"
#include "tools/cli/installed/install_tree.h"
#include "tools/cli/process/child_process.h"
#include "tools/model/job.h"
#include "tools/view/capture/capture_text.h"

namespace memoir {
namespace {

// Returns true if `path` is a regular file of this user. Other files are not merged: `path` comes from the capture,
// which is untrusted, and merging a ring writes into the folder that the ring names.
bool IsOurs(const std::string& path) {
  struct stat status;
  return lstat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && status.st_uid == geteuid();
}

std::string MergeRing(const InstallTree& tree, const ProcessSummary& process, const KilledProcess& killed) {
  const std::string& ring = process.pending_ring;
  const std::string who = fmt::format("the newest events of process {} ({})", process.info.pid(),
                                      process.is_rank ? RankLabel(process) : "no rank");
  if (!IsOurs(ring)) return fmt::format("{} in {} are not merged: the file belongs to another user", who, ring);
  std::vector<std::string> command = {tree.drain.string(), ring};
  if (killed.signal != 0 && killed.pid == process.info.pid())
    command.insert(command.begin() + 1, fmt::format("--signal={}", killed.signal));
  const ChildResult result = RunChild(command, {});
  if (result.start_error != 0) {
    return fmt::format("{} in {} are not merged: {}: {}", who, ring, tree.drain.string(),
                       std::strerror(result.start_error));
  }
  if (result.exit_code != 0) {
    return fmt::format("{} in {} are not merged: memoir-drain ended with {}", who, ring, result.exit_code);
  }
  return fmt::format("{} were merged from {}", who, ring);
}

// Returns the time at which `run` started, such as "05:12". With the date if `with_date` is true.
std::string StartOf(const RecordedRun& run, bool with_date) {
  const auto seconds = static_cast<std::time_t>(run.start_ns / 1'000'000'000);
  std::tm time{};
  char text[32] = "";
  if (localtime_r(&seconds, &time) != nullptr)
    std::strftime(text, sizeof text, with_date ? "%Y-%m-%d %H:%M" : "%H:%M", &time);
  return text;
}

// Returns a line such as "run 2 of 2, of 05:12; --run 1 shows the other".
std::string RunLine(const Capture& capture) {
  const std::vector<RecordedRun>& runs = capture.runs();
  constexpr std::uint64_t kDay = 86'400'000'000'000;
  const bool with_date = runs.back().start_ns - runs.front().start_ns >= kDay / 2;
  const std::string others = runs.size() == 2 ? fmt::format("--run {} shows the other", 3 - capture.run())
                                              : fmt::format("--run 1 to --run {} show the others", runs.size());
  return fmt::format("run {} of {}, of {}; {}", capture.run(), runs.size(), StartOf(runs[capture.run() - 1], with_date),
                     others);
}

}  // namespace

void MergeRingsOf(const std::string& folder, const InstallTree& tree) {
  for (const ListedRing& ring : ListDeadRings(tree, false)) {
    if (ring.state == "merge" && ring.text == folder) RunChild({tree.drain.string(), ring.path}, {});
  }
}

absl::StatusOr<Capture> OpenMerged(const std::string& path, const std::function<void(const std::string&)>& say,
                                   std::uint32_t run, const KilledProcess& killed) {
  absl::StatusOr<Capture> capture = Capture::Open(path, run);
  if (!capture.ok()) return capture;
  bool merged = false;
  for (const ProcessSummary& process : capture->processes()) {
    if (process.pending_ring.empty()) continue;
    merged = true;
    // Another process may have just merged the ring.
    if (access(process.pending_ring.c_str(), F_OK) != 0 && errno == ENOENT) continue;
    say(MergeRing(FindInstallTree(), process, killed));
  }
  if (merged) capture = Capture::Open(path, run);
  if (capture.ok() && capture->run() != kAllRuns && capture->runs().size() > 1) say(RunLine(*capture));
  return capture;
}

}  // namespace memoir
