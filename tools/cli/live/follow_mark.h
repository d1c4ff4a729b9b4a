// A file in the folder of a capture, by which the recording detects that a reader follows it. A recording with --detail
// auto then writes every second, and otherwise every four seconds (tracker/session/process/follower_detection.h). Not
// thread-safe.
#ifndef TOOLS_CLI_LIVE_FOLLOW_MARK_H_
#define TOOLS_CLI_LIVE_FOLLOW_MARK_H_

#include <chrono>
#include <string>

namespace memoir {

class FollowMark {
 public:
  // `capture` is the folder or a file in it.
  explicit FollowMark(const std::string& capture);
  ~FollowMark();  // removes the file
  FollowMark(const FollowMark&) = delete;
  FollowMark& operator=(const FollowMark&) = delete;

  // Call it repeatedly while somebody follows a running recording. Touches the file at most once a second. Does nothing
  // if the folder is not writable, or if a file with contents has this name; the shown state is then older.
  void Touch();

 private:
  const std::string path_;
  bool touched_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace memoir

#endif  // TOOLS_CLI_LIVE_FOLLOW_MARK_H_
