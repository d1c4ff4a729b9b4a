// A file in the folder of a capture that tells the recording that it is being read as it grows. A recording that names
// its steps then writes every second, and else every four seconds (tracker/session/process/follower_detection.h). For
// one thread.
#ifndef TOOLS_CLI_LIVE_FOLLOW_MARK_H_
#define TOOLS_CLI_LIVE_FOLLOW_MARK_H_

#include <chrono>
#include <string>

namespace memoir {

class FollowMark {
 public:
  // `capture` is the folder or a file in it.
  explicit FollowMark(const std::string& capture);
  ~FollowMark();  // removes it
  FollowMark(const FollowMark&) = delete;
  FollowMark& operator=(const FollowMark&) = delete;

  // Call it while somebody follows a running recording; it acts once a second. Does nothing if the folder is not
  // writable or a non-empty file has the name; the picture is then slightly older.
  void Touch();

 private:
  const std::string path_;
  bool touched_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace memoir

#endif  // TOOLS_CLI_LIVE_FOLLOW_MARK_H_
