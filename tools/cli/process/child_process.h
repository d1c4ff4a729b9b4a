// Starts the command of `memoir run`, stands between it and signals, and waits for it. Also runs small programs for
// their output.
//
// Not thread-safe: signal dispositions belong to the process. The child keeps our standard streams, process group,
// terminal, working folder and ignored signals, as if it had been started without us.
#ifndef TOOLS_CLI_PROCESS_CHILD_PROCESS_H_
#define TOOLS_CLI_PROCESS_CHILD_PROCESS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace memoir {

struct ChildResult {
  int start_error = 0;  // errno of the exec; 0: it was started
  int exit_code = 0;    // 128 + signal when a signal ended it
  int signal = 0;
  int interrupts = 0;  // SIGINTs that came while it ran
};

// Of a child that has ended, by what waitpid says of it.
ChildResult ResultOf(int status);

// Runs `command` (found by PATH) with exactly `environment` and waits.
//
// Signals: what the terminal sends (^C, ^\) the kernel delivers to the whole process group, so the child has it already
// and we only outlive it. What another process sends to us (kill, a batch system) is passed on. A program that signals
// the whole group by hand therefore reaches the child twice. `patience` > 0: at so many SIGINTs it is killed.
ChildResult RunChild(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                     int patience = 0);

// Standard output of a program that should end by itself. An error when it cannot be started or fails; DeadlineExceeded
// when it takes longer than `seconds`: then it is killed with everything that it started.
absl::StatusOr<std::string> CaptureOutput(const std::vector<std::string>& command, int seconds);

// Path of an executable as execvp would find it, or "".
std::string FindOnPath(const std::string& program);

}  // namespace memoir

#endif  // TOOLS_CLI_PROCESS_CHILD_PROCESS_H_
