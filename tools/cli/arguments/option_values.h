// Checks the values of options that select steps, a signal, snapshots or a number. The tracker (tracker/session) reads
// these values in the same way. Memoir checks them here too, to reject wrong values before it starts anything.
// proto/memoir/byte_size.h parses sizes.
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

// Parses text that consists only of digits.
std::optional<std::uint64_t> ParseDigits(std::string_view text);

}  // namespace memoir

#endif  // TOOLS_CLI_ARGUMENTS_OPTION_VALUES_H_
