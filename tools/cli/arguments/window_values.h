// What the options that name a window or a signal may say. The recorder (tracker/session) reads them the same way; here
// they are refused before anything starts.
#ifndef TOOLS_CLI_ARGUMENTS_WINDOW_VALUES_H_
#define TOOLS_CLI_ARGUMENTS_WINDOW_VALUES_H_

#include <string_view>

namespace memoir {

bool IsSteps(std::string_view text);     // "10:12", the first before the second
bool IsSchedule(std::string_view text);  // "wait=1,warmup=1,active=3,repeat=2"; `active` at least 1
bool IsSignal(std::string_view text);    // "USR2", "SIGUSR2", "12"

}  // namespace memoir

#endif  // TOOLS_CLI_ARGUMENTS_WINDOW_VALUES_H_
