// Formats bytes and points in time as readable text, for tables and messages. tools/view/terminal/units.h formats other
// units. JSON output contains exact values instead.
#ifndef TOOLS_MODEL_FIGURE_TEXT_H_
#define TOOLS_MODEL_FIGURE_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "absl/types/span.h"

namespace memoir {

// Returns "512 B", "1.5 KiB", "23.0 MiB", "1.25 GiB" or "79.2 GiB". GiB and larger units have two decimals below 10, so
// that 1.58 GiB and 1.62 GiB differ. All other values have one decimal.
std::string FormatBytes(std::uint64_t bytes);
// Returns a point in time of the recording, in seconds: "0.0123 s".
std::string FormatMoment(std::uint64_t nanoseconds);
// Returns a time for the option --at: "9.1203s". The time is at or after `nanoseconds` and before `until`. It has as
// few decimals as possible, from three to eight. If eight decimals are too few, or if `until` is 0, the time is exactly
// `nanoseconds`.
std::string FormatAt(std::uint64_t nanoseconds, std::uint64_t until);
// Returns `value` in the first of `units` in which the value is below `step`. Each unit is `step` times the previous
// unit. The text has one decimal, and two for values below 10 in the unit with index `precise_from` or a later one.
std::string FormatScaled(double value, double step, absl::Span<const std::string_view> units, std::size_t precise_from);

}  // namespace memoir

#endif  // TOOLS_MODEL_FIGURE_TEXT_H_
