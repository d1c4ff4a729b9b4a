// What options that name a window, a signal, a number or a size may say. The recorder (tracker/session) reads them the
// same way; here they are refused before anything starts.
#ifndef TOOLS_CLI_ARGUMENTS_OPTION_VALUES_H_
#define TOOLS_CLI_ARGUMENTS_OPTION_VALUES_H_

#include <cstdint>
#include <optional>
#include <string_view>

namespace memoir {

bool IsSteps(std::string_view text);      // "10:12", the first before the second
bool IsSchedule(std::string_view text);   // "wait=1,warmup=1,active=3,repeat=2"; `active` at least 1
bool IsSignal(std::string_view text);     // "USR2", "SIGUSR2", "12"
bool IsSnapshots(std::string_view text);  // "oom", "oom,exception,exit"

// Digits and nothing else.
std::optional<std::uint64_t> ParseDigits(std::string_view text);
// 512MiB, 512M, 536870912; 512MB is 512,000,000. The recorder reads sizes the same way.
std::optional<std::uint64_t> ParseSize(std::string_view text);

}  // namespace memoir

#endif  // TOOLS_CLI_ARGUMENTS_OPTION_VALUES_H_
