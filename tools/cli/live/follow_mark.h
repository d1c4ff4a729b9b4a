// A file in the folder of a capture that says that somebody reads it as it grows: a recording that names its steps
// writes what has come each second then, and else every four (tracker/session/followed_mark.h). One thread.
#ifndef TOOLS_CLI_LIVE_FOLLOW_MARK_H_
#define TOOLS_CLI_LIVE_FOLLOW_MARK_H_

#include <string>

namespace memoir {

class FollowMark {
 public:
  // The folder, or a file in it.
  explicit FollowMark(const std::string& capture);
  ~FollowMark();  // removes it
  FollowMark(const FollowMark&) = delete;
  FollowMark& operator=(const FollowMark&) = delete;

  // With each look at a recording that runs. Where nothing may be written there, nothing is: the picture is a little
  // older then.
  void Touch();

 private:
  const std::string path_;
  bool touched_ = false;
};

}  // namespace memoir

#endif  // TOOLS_CLI_LIVE_FOLLOW_MARK_H_
