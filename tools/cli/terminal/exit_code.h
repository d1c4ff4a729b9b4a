// The program's exit codes. `memoir run` returns its command's code instead (128 + signal if one ended it).
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
