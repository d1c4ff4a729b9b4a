// The keys of `memoir live` that control the recording through its control file, and the messages about their effects.
// Not thread-safe.
#ifndef TOOLS_CLI_LIVE_LIVE_KEYS_H_
#define TOOLS_CLI_LIVE_LIVE_KEYS_H_

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "tools/analyze/live/live_figures.h"
#include "tools/cli/live/snapshot_request.h"

namespace memoir {

inline constexpr auto kSnapshotPatience = std::chrono::seconds(10);
// Returns the message for a snapshot that did not appear within kSnapshotPatience. `control`: the control file.
std::string NoSnapshotCame(const std::string& control);

// Returns true if a process still runs, so that it can be controlled.
bool IsAnyRunning(const LiveFigures& figures);
// Returns the control file of the shown recording.
std::string ControlFileOf(const LiveFigures& figures);

class LiveKeys {
 public:
  // Returns the line that lists the keys, such as "q quit s snapshot ...".
  std::string Line(const LiveFigures& figures) const;
  // Describes the effect of the last key. Empty if no key was pressed.
  const std::string& message() const { return message_; }

  void Press(char key, const LiveFigures& figures);
  // Updates message() if the request of the last key has a result.
  void CheckRequests(const LiveFigures& figures);

 private:
  // A request to record the next steps with all operators.
  struct StepRequest {
    std::uint64_t steps = 0;
    std::map<std::uint64_t, std::uint64_t> times_before;  // FullStepRequest::times before this request, by process id
  };
  void Ask(const std::string& word, std::string said);
  void AskForSteps(const LiveFigures& figures);
  void LookForSnapshot();
  void LookForSteps(const LiveFigures& figures);

  std::string control_, message_;
  std::string digits_;  // digits typed before a key that uses a number
  std::optional<SnapshotRequest> request_;
  std::optional<StepRequest> asked_;
};

}  // namespace memoir

#endif  // TOOLS_CLI_LIVE_LIVE_KEYS_H_
