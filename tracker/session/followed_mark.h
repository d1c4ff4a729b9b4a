// Whether somebody reads the capture while it grows (`memoir live`), and so wants new chunks each second: readers touch
// a file in its folder with each look. Only looked at, never written or removed. Any thread.
#ifndef TRACKER_SESSION_FOLLOWED_MARK_H_
#define TRACKER_SESSION_FOLLOWED_MARK_H_

#include <string>

namespace memoir {

bool IsFollowed(const std::string& folder) noexcept;

}  // namespace memoir

#endif  // TRACKER_SESSION_FOLLOWED_MARK_H_
