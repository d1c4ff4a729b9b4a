// The program's exit codes. `memoir run` returns the exit code of its command instead, or 128 + signal if a signal
// ended the command.
#ifndef TOOLS_CLI_TERMINAL_EXIT_CODE_H_
#define TOOLS_CLI_TERMINAL_EXIT_CODE_H_

namespace memoir {

inline constexpr int kExitFine = 0;
inline constexpr int kExitError = 1;
inline constexpr int kExitUsage = 2;
inline constexpr int kExitFinding = 3;
inline constexpr int kExitCannotExecute = 126;  // the shell's codes for a command that cannot be started
inline constexpr int kExitCommandNotFound = 127;

}  // namespace memoir

#endif  // TOOLS_CLI_TERMINAL_EXIT_CODE_H_
