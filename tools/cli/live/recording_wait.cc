#include "tools/cli/live/recording_wait.h"

#include <algorithm>
#include <string>
#include <thread>

#include "tools/cli/terminal/printed_messages.h"

namespace memoir {

// Returns true if the recording may exist later. DataLoss counts, because a recording that has just begun has a folder
// but no complete chunk.
bool RecordingWait::IsWorthAWait(const absl::Status& status) const {
  const bool may_come = absl::IsNotFound(status) || absl::IsDataLoss(status);
  return may_come && signals_.ended_by() == 0 && (!patience_ || Clock::now() - begin_ < *patience_);
}

void RecordingWait::Pause(std::chrono::milliseconds pause, const absl::Status& status) {
  constexpr auto kSlice = std::chrono::milliseconds(50);
  if (!is_said_ && !patience_ && Clock::now() - begin_ >= std::chrono::seconds(1)) {
    PrintMessage(std::string(status.message()) + ". Waiting for it; ^C ends this");
    is_said_ = true;
  }
  for (auto left = pause; left.count() > 0 && signals_.ended_by() == 0; left -= kSlice)
    std::this_thread::sleep_for(std::min(left, kSlice));
}

}  // namespace memoir
