// Finds the recording that `memoir live` shows. The user names a folder, one of its files or a process, or nothing for
// this user's newest running recording.
#ifndef TOOLS_CLI_LIVE_RECORDING_CHOICE_H_
#define TOOLS_CLI_LIVE_RECORDING_CHOICE_H_

#include <string>

#include "absl/status/statusor.h"

namespace memoir {

// Returns the folder of a recording. `what`: a path, a process number, or "" for the newest running recording.
// NotFound: the recording does not exist, but may exist a moment later.
absl::StatusOr<std::string> FolderToFollow(const std::string& what);

}  // namespace memoir

#endif  // TOOLS_CLI_LIVE_RECORDING_CHOICE_H_
