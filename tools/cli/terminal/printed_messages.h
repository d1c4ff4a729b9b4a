// Lines on standard error. All text for the user outside of reports is printed here, so that it is escaped and differs
// from the program's own output.
#ifndef TOOLS_CLI_TERMINAL_PRINTED_MESSAGES_H_
#define TOOLS_CLI_TERMINAL_PRINTED_MESSAGES_H_

#include <string_view>

#include "absl/status/status.h"

namespace memoir {

// "memoir: LINE"
void PrintMessage(std::string_view line);
// Prints the status's message; returns kExitError.
int Fail(const absl::Status& status);
// Prints `line` and how to get help; returns kExitUsage. `verb` may be "".
int FailUsage(std::string_view verb, std::string_view line);
// Prints every line of `text` after "memoir: ", without escaping: it is a report that views have escaped.
void PrintReport(std::string_view text);
// Prints text on standard output. Returns an error code if it cannot be written (a full disk).
int WriteOutput(std::string_view text);

}  // namespace memoir

#endif  // TOOLS_CLI_TERMINAL_PRINTED_MESSAGES_H_
