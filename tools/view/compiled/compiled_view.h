// Prints the frames that torch.compile compiled, and graph breaks, as text and JSON.
#ifndef TOOLS_VIEW_COMPILED_COMPILED_VIEW_H_
#define TOOLS_VIEW_COMPILED_COMPILED_VIEW_H_

#include <cstddef>
#include <string>

#include "tools/analyze/compiled/compiled_frames.h"
#include "tools/model/capture.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

// Prints the `top` largest frames, and as many graph breaks; 0: all. Omits host memory if there are GPUs.
std::string RenderCompiled(const Capture& capture, const CompiledFrames& compiled, std::size_t top,
                           const Terminal& terminal);
Json CompiledJson(const Capture& capture, const CompiledFrames& compiled, std::size_t top);

}  // namespace memoir

#endif  // TOOLS_VIEW_COMPILED_COMPILED_VIEW_H_
