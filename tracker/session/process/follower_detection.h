// Detects whether a reader follows the capture while the capture grows (`memoir live`). The writer then writes new
// chunks each second. Each time the reader reads the capture, it touches the file `.followed` in the capture's folder.
// Memoir only reads the modification time of this file. Any thread.
#ifndef TRACKER_SESSION_PROCESS_FOLLOWER_DETECTION_H_
#define TRACKER_SESSION_PROCESS_FOLLOWER_DETECTION_H_

#include <string>

namespace memoir {

// Returns true if the file was modified within ten seconds of the current time.
bool IsFollowed(const std::string& folder) noexcept;

}  // namespace memoir

#endif  // TRACKER_SESSION_PROCESS_FOLLOWER_DETECTION_H_
