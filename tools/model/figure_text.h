// Bytes and points in time as a person reads them: in what views print (tools/view/terminal/units.h has the rest), and
// in the messages of analyses. JSON has exact values.
#ifndef TOOLS_MODEL_FIGURE_TEXT_H_
#define TOOLS_MODEL_FIGURE_TEXT_H_

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/types/span.h"

namespace memoir {

// "512 B", "1.5 KiB", "23.0 MiB", "1.2 GiB"
std::string FormatBytes(std::uint64_t bytes);
// A point in the recording, as --at takes it: "0.0123 s"
std::string FormatMoment(std::uint64_t nanoseconds);
// One decimal, in the first of `units` that holds less than `step`; each is `step` times the one before.
std::string FormatScaled(double value, double step, absl::Span<const std::string_view> units);

}  // namespace memoir

#endif  // TOOLS_MODEL_FIGURE_TEXT_H_
