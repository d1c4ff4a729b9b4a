// Starts the command of `memoir run`, handles signals for it, and waits for it. Also runs small programs for their
// output.
//
// Not thread-safe: signal handlers apply to the whole process. The child keeps this process's standard input, output
// and error, process group, terminal, working folder and ignored signals, as if it had been started without Memoir.
#ifndef TOOLS_CLI_PROCESS_CHILD_PROCESS_H_
#define TOOLS_CLI_PROCESS_CHILD_PROCESS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace memoir {

struct ChildResult {
  int start_error = 0;  // errno of the exec; 0: the child has started
  int exit_code = 0;    // 128 + signal if a signal ended the child
  int signal = 0;
  int pid = 0;
  int interrupts = 0;  // SIGINTs received while the child ran
};

// Returns the result of an ended child. `status`: the status from waitpid.
ChildResult ResultOf(int status);

// Runs `command` (found by PATH) with exactly `environment` and waits.
//
// Signals from the terminal (^C, ^\) reach the whole process group, including the child, so this process does not
// forward them. Signals from other processes (kill, a batch system) are forwarded. A signal that another program sends
// to the whole group therefore reaches the child twice. `patience` > 0: kills the child at this number of SIGINTs.
ChildResult RunChild(const std::vector<std::string>& command, const std::vector<std::string>& environment,
                     int patience = 0);

// Ends this process by `signal`, the signal that ended the child, without a core file. Returns if `signal` is 0, and in
// process 1 of a container, which cannot end itself by a signal. May be called in signal handlers.
void DieBySignal(int signal);

// Returns the standard output of a program that should end by itself. Returns an error if the program cannot be started
// or fails. DeadlineExceeded if the program takes longer than `seconds`; then the program is killed, with everything
// that it started.
absl::StatusOr<std::string> CaptureOutput(const std::vector<std::string>& command, int seconds);

// Returns the path of an executable that execvp would find, or "".
std::string FindOnPath(const std::string& program);

}  // namespace memoir

#endif  // TOOLS_CLI_PROCESS_CHILD_PROCESS_H_
