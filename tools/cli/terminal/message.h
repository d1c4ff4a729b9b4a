// Lines on standard error. Everything a person reads outside of a report goes through here, so that it is escaped and
// can be told from the program's own output.
#ifndef TOOLS_CLI_TERMINAL_MESSAGE_H_
#define TOOLS_CLI_TERMINAL_MESSAGE_H_

#include <string_view>

#include "absl/status/status.h"

namespace memoir {

// "memoir: LINE"
void Say(std::string_view line);
// Says the status's message; returns kExitError.
int Fail(const absl::Status& status);
// Says `line` and where help is; returns kExitUsage. `verb` may be "".
int FailUsage(std::string_view verb, std::string_view line);
// Every line of `text` after "memoir: ", without escaping: a report that views have made safe.
void SayReport(std::string_view text);
// Text on standard output; an error code when it cannot be written (a full disk).
int WriteOutput(std::string_view text);

}  // namespace memoir

#endif  // TOOLS_CLI_TERMINAL_MESSAGE_H_
