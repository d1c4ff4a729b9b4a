// Prints out-of-memory errors in a few lines each. The lines describe which code requested how much memory, which code
// owned the memory, why the request failed, and why it did not fail in the previous step.
#ifndef TOOLS_VIEW_OOM_OUT_OF_MEMORY_TEXT_H_
#define TOOLS_VIEW_OOM_OUT_OF_MEMORY_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tools/analyze/summary/summary.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// Returns one message for the job with at most `lines` lines: the decisive error, the number of errors, and remedies.
// `more` names the command for the rest. Empty without an error.
inline constexpr std::size_t kLinesOfOutOfMemory = 16;
std::string RenderOutOfMemory(const Capture& capture, const Summary& summary, std::size_t lines, std::string_view more,
                              const Terminal& terminal);

// Returns the number of errors, including errors that only torch's allocator counted because recording was off.
std::uint64_t CountOutOfMemory(const Summary& summary);

// Prints every error, with `top` names in a list (0: all).
std::string RenderOutOfMemoryErrors(const Capture& capture, const Summary& summary, std::size_t top,
                                    const Terminal& terminal);

// Returns "no out-of-memory error", or "no out-of-memory error is recorded, but ..." if an error may be missing.
std::string NoOutOfMemoryKnown(const Capture& capture, const ReplayReport& report);
// Describes why an error may be missing from the recording. Empty if no error can be missing.
std::string WhyOutOfMemoryIsNotKnown(const Capture& capture, const ReplayReport& report);

// For a recording without an error: returns one line for each GPU, with its smallest headroom.
std::string RenderNoOutOfMemory(const Capture& capture, const Summary& summary, const Terminal& terminal);

}  // namespace memoir

#endif  // TOOLS_VIEW_OOM_OUT_OF_MEMORY_TEXT_H_
