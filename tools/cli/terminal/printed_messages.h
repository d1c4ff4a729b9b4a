// Lines on standard error. All text for the user outside of reports is printed here, so that it is escaped and differs
// from the output of the recorded program.
#ifndef TOOLS_CLI_TERMINAL_PRINTED_MESSAGES_H_
#define TOOLS_CLI_TERMINAL_PRINTED_MESSAGES_H_

#include <string_view>

#include "absl/status/status.h"

namespace memoir {

// Prints "memoir: LINE".
void PrintMessage(std::string_view line);
// Prints the message of the status, and returns kExitError.
int Fail(const absl::Status& status);
// Prints `line` and the command for help, and returns kExitUsage. `verb` may be "".
int FailUsage(std::string_view verb, std::string_view line);
// Prints every line of `text` after "memoir: ". Does not escape the text, because views have escaped it.
void PrintReport(std::string_view text);
// Prints text on standard output. Returns an error code if it cannot be written (a full disk).
int WriteOutput(std::string_view text);

}  // namespace memoir

#endif  // TOOLS_CLI_TERMINAL_PRINTED_MESSAGES_H_
