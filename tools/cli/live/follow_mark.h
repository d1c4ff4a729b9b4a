// A file in the folder of a capture that says that somebody reads it as it grows: a recording that names its steps
// writes what has come each second then, and else every four (tracker/session/followed_mark.h). One thread.
#ifndef TOOLS_CLI_LIVE_FOLLOW_MARK_H_
#define TOOLS_CLI_LIVE_FOLLOW_MARK_H_

#include <chrono>
#include <string>

namespace memoir {

class FollowMark {
 public:
  // The folder, or a file in it.
  explicit FollowMark(const std::string& capture);
  ~FollowMark();  // removes it
  FollowMark(const FollowMark&) = delete;
  FollowMark& operator=(const FollowMark&) = delete;

  // While somebody waits for a look at a recording that runs; does something once a second. Where nothing may be
  // written there, or a file with a content has the name, nothing is: the picture is a little older then.
  void Touch();

 private:
  const std::string path_;
  bool touched_ = false;
  std::chrono::steady_clock::time_point last_{};
};

}  // namespace memoir

#endif  // TOOLS_CLI_LIVE_FOLLOW_MARK_H_
