// A file in the folder of a capture that shows to the recording that a reader follows it. While a reader follows, a
// recording with --detail auto writes its events every second, otherwise every four seconds
// (tracker/session/process/follower_detection.h). Not thread-safe.
#ifndef TOOLS_CLI_LIVE_FOLLOW_MARK_H_
#define TOOLS_CLI_LIVE_FOLLOW_MARK_H_

#include <chrono>
#include <string>

namespace memoir {

class FollowedFile {
 public:
  // `capture` is the folder or a file in it.
  explicit FollowedFile(const std::string& capture);
  ~FollowedFile();  // removes the file
  FollowedFile(const FollowedFile&) = delete;
  FollowedFile& operator=(const FollowedFile&) = delete;

  // Call it repeatedly while a running recording is followed. Touches the file at most once a second. Does nothing if
  // the folder is not writable, or if a file with contents has this name; the reader then shows an older state.
  void Touch();

 private:
  const std::string path_;
  bool touched_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace memoir

#endif  // TOOLS_CLI_LIVE_FOLLOW_MARK_H_
