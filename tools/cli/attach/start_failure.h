// The message for a command that cannot be started: cause and fix, with the shell's exit codes.
#ifndef TOOLS_CLI_ATTACH_START_FAILURE_H_
#define TOOLS_CLI_ATTACH_START_FAILURE_H_

#include <string>
#include <vector>

namespace memoir {

// Prints the message and returns kExitCommandNotFound or kExitCannotExecute. `error` is the errno of the exec.
int CannotStart(const std::vector<std::string>& command, int error);

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_START_FAILURE_H_
