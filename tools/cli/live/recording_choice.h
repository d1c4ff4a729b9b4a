// Which recording `memoir live` means: a folder, one of its files, a process, or the newest of this user's that runs.
#ifndef TOOLS_CLI_LIVE_RECORDING_CHOICE_H_
#define TOOLS_CLI_LIVE_RECORDING_CHOICE_H_

#include <string>

#include "absl/status/statusor.h"

namespace memoir {

// The folder that a path, a process number or "" leads to. Errors say what to do.
absl::StatusOr<std::string> FolderToFollow(const std::string& what);

}  // namespace memoir

#endif  // TOOLS_CLI_LIVE_RECORDING_CHOICE_H_
