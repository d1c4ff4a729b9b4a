// Out-of-memory errors in a few lines each: who asked for what, who held the bytes, why it failed, and why not a step
// earlier.
#ifndef TOOLS_VIEW_OOM_OUT_OF_MEMORY_TEXT_H_
#define TOOLS_VIEW_OOM_OUT_OF_MEMORY_TEXT_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "tools/analyze/summary/summary.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// One message for the job, of at most so many lines: of the error that decided, how many there were, and what would
// help; `more`: the line that says where the rest is. "" where there was none.
inline constexpr std::size_t kLinesOfOutOfMemory = 16;
std::string RenderOutOfMemory(const Capture& capture, const Summary& summary, std::size_t lines, std::string_view more,
                              const Terminal& terminal);

// Also those that torch's allocator alone has counted, as while recording was off.
std::uint64_t CountOutOfMemory(const Summary& summary);

// Every error, with `top` names in a list (0: all).
std::string RenderOutOfMemoryErrors(const Capture& capture, const Summary& summary, std::size_t top,
                                    const Terminal& terminal);

// "no out-of-memory error", or that none is known of, where recording was off for a while.
std::string NoOutOfMemoryKnown(const Capture& capture, const ReplayReport& report);
// Why there may have been one that nothing tells of; "": there was none.
std::string WhyOutOfMemoryIsNotKnown(const Capture& capture, const ReplayReport& report);

// Where there was none: how close each GPU came, a line each.
std::string RenderNoOutOfMemory(const Capture& capture, const Summary& summary, const Terminal& terminal);

}  // namespace memoir

#endif  // TOOLS_VIEW_OOM_OUT_OF_MEMORY_TEXT_H_
