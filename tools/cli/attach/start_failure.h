// Reports that a command cannot be started: the cause, the remedy, and the exit code that a shell would return.
#ifndef TOOLS_CLI_ATTACH_START_FAILURE_H_
#define TOOLS_CLI_ATTACH_START_FAILURE_H_

#include <string>
#include <vector>

namespace memoir {

// Prints the message and returns kExitCommandNotFound or kExitCannotExecute. `error` is the errno of the exec.
int ReportStartFailure(const std::vector<std::string>& command, int error);

}  // namespace memoir

#endif  // TOOLS_CLI_ATTACH_START_FAILURE_H_
