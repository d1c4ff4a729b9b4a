// What keys of `memoir live` do to the recording, through its control file, and what came of it in words. One thread.
#ifndef TOOLS_CLI_LIVE_LIVE_KEYS_H_
#define TOOLS_CLI_LIVE_LIVE_KEYS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tools/analyze/live/live_picture.h"
#include "tools/cli/live/snapshot_request.h"

namespace memoir {

inline constexpr auto kSnapshotPatience = std::chrono::seconds(10);
std::string NoSnapshotCame(const std::string& control);

// Some process still runs: there is something to control.
bool RunsOn(const LivePicture& picture);
// Of the recording that is shown.
std::string ControlFileOf(const LivePicture& picture);

class LiveKeys {
 public:
  // "q quit  s snapshot ..."
  std::string Line(const LivePicture& picture) const;
  // What the last key did; "": nothing.
  const std::string& message() const { return message_; }

  void Press(char key, const LivePicture& picture);
  // What has come of it since.
  void Look(const LivePicture& picture);

 private:
  // Steps in full.
  struct Asked {
    std::uint64_t steps = 0;
    std::map<std::uint64_t, std::uint64_t> times_before;  // by process number, as LiveAsked has them
  };
  void Ask(const std::string& word, std::string said);
  void AskForSteps(const LivePicture& picture);
  void LookForSnapshot();
  void LookForSteps(const LivePicture& picture);

  std::string control_, message_;
  std::string digits_;  // typed before the key that takes a number
  std::optional<SnapshotRequest> request_;
  std::optional<Asked> asked_;
};

}  // namespace memoir

#endif  // TOOLS_CLI_LIVE_LIVE_KEYS_H_
