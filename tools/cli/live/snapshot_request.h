// Asks a recording for a snapshot, or to record more or less, through its control file (docs/snapshots.md), and finds
// what came of it.
#ifndef TOOLS_CLI_LIVE_SNAPSHOT_REQUEST_H_
#define TOOLS_CLI_LIVE_SNAPSHOT_REQUEST_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"

namespace memoir {

// Of a recording into `folder`: the file that `run --control` named, as process `pid` has it in its environment; else
// `control` in the folder.
std::string ControlFileOf(const std::string& folder, std::uint64_t pid);

// Writes a word into it: "snapshot", "off", "memory", "on". The error says cause and fix.
absl::Status WriteControl(const std::string& path, const std::string& word);

class SnapshotRequest {
 public:
  // Before the word is written.
  explicit SnapshotRequest(const std::string& folder);
  // The folder of a snapshot that has come since, once it is whole.
  std::optional<std::string> Find() const;
  std::chrono::steady_clock::duration age() const { return std::chrono::steady_clock::now() - begin_; }

 private:
  std::set<std::string> Files() const;
  const std::string folder_;  // "snapshots" in the capture's
  const std::set<std::string> before_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace memoir

#endif  // TOOLS_CLI_LIVE_SNAPSHOT_REQUEST_H_
