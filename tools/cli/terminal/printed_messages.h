// Prints messages for the user on standard error. These functions print all messages, so that each message is escaped,
// and its "memoir: " distinguishes it from the output of the recorded program.
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
// Prints text on standard output. Returns kExitError if the text cannot be written (a full disk), otherwise kExitFine.
int WriteOutput(std::string_view text);

}  // namespace memoir

#endif  // TOOLS_CLI_TERMINAL_PRINTED_MESSAGES_H_
