// Waits for a recording whose folder, or a file in it, does not exist yet, because the recording has not begun.
#ifndef TOOLS_CLI_LIVE_RECORDING_WAIT_H_
#define TOOLS_CLI_LIVE_RECORDING_WAIT_H_

#include <chrono>
#include <optional>

#include "absl/status/status.h"
#include "tools/cli/live/live_terminal.h"

namespace memoir {

class RecordingWait {
 public:
  // `patience`: the longest wait; nullopt: waits until a signal arrives.
  RecordingWait(const LiveSignals& signals, std::optional<std::chrono::seconds> patience)
      : signals_(signals), patience_(patience) {}

  // Calls `look` repeatedly, with a `pause` between the calls. `look` opens the recording and returns a StatusOr. Stops
  // if the recording exists, if another error occurs, or if the wait is over. Returns the last result of `look`.
  // Without `patience`, a wait of more than a second is reported.
  template <class Look>
  auto Await(std::chrono::milliseconds pause, const Look& look) {
    auto answer = look();
    while (IsWorthAWait(answer.status())) {
      Pause(pause, answer.status());
      answer = look();
    }
    return answer;
  }

 private:
  using Clock = std::chrono::steady_clock;
  bool IsWorthAWait(const absl::Status& status) const;
  void Pause(std::chrono::milliseconds pause, const absl::Status& status);

  const LiveSignals& signals_;
  const std::optional<std::chrono::seconds> patience_;
  const Clock::time_point begin_ = Clock::now();
  bool is_said_ = false;
};

}  // namespace memoir

#endif  // TOOLS_CLI_LIVE_RECORDING_WAIT_H_
