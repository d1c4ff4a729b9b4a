// Requests a snapshot or another recording level from a recording, through its control file (docs/live.md), and finds
// the snapshot.
#ifndef TOOLS_CLI_LIVE_SNAPSHOT_REQUEST_H_
#define TOOLS_CLI_LIVE_SNAPSHOT_REQUEST_H_

#include <chrono>
#include <cstdint>
#include <optional>
#include <set>
#include <string>

#include "absl/status/status.h"

namespace memoir {

// Returns the control file of a recording into `folder`: the file of `run --control`, from the environment of process
// `pid`; otherwise `control` in the folder.
std::string ControlFileOf(const std::string& folder, std::uint64_t pid);

// Writes a word into the control file: "snapshot", "off", "memory", "on", "steps 3". The error names cause and fix.
absl::Status WriteControl(const std::string& path, const std::string& word);

class SnapshotRequest {
 public:
  // Remembers the existing snapshots. Make this object before "snapshot" is written into the control file.
  explicit SnapshotRequest(const std::string& folder);
  // Returns the folder of a snapshot that is newer than this object and complete. nullopt if there is no such snapshot.
  std::optional<std::string> Find() const;
  std::chrono::steady_clock::duration age() const { return std::chrono::steady_clock::now() - begin_; }

 private:
  std::set<std::string> Files() const;
  const std::string folder_;  // "snapshots" in the folder of the capture
  const std::set<std::string> before_;
  const std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

}  // namespace memoir

#endif  // TOOLS_CLI_LIVE_SNAPSHOT_REQUEST_H_
