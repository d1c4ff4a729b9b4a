// Numbers for people. JSON never uses these: it has exact values.
#ifndef TOOLS_VIEW_TERMINAL_UNITS_H_
#define TOOLS_VIEW_TERMINAL_UNITS_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/model/figure_text.h"  // IWYU pragma: export

namespace memoir {

// FormatBytes with a sign: "+1.5 KiB", "-3 B", "0 B"
std::string FormatSignedBytes(std::int64_t bytes);
// "1,234,567"
std::string FormatCount(std::uint64_t count);
// "1 block", "1,234 blocks"
std::string FormatCounted(std::uint64_t count, std::string_view one, std::string_view many);
// "12.3%"; "-" if the whole is 0
std::string FormatShare(std::uint64_t part, std::uint64_t whole);
// "850 ns", "1.2 ms", "34.5 s", "12 min 5 s", "3 h 20 min"
std::string FormatDuration(std::uint64_t nanoseconds);

}  // namespace memoir

#endif  // TOOLS_VIEW_TERMINAL_UNITS_H_
