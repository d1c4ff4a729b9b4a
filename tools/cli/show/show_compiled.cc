#include "tools/analyze/compiled/compiled_frames.h"
#include "tools/cli/show/show_view.h"
#include "tools/view/compiled/compiled_view.h"

namespace memoir {
namespace {

ShownText Show(const ShowRequest& request) {
  const auto compiled = AnalyzeCompiledFrames(request.capture, request.selection);
  if (!compiled.ok()) return compiled.status();
  if (request.arguments.json) return ToText(CompiledJson(request.capture, *compiled, request.top(0)));
  return RenderCompiled(request.capture, *compiled, request.top(10), request.terminal);
}

}  // namespace

const ShowView kShowCompiled = {
    .by = "compiled",
    .by_help = "each frame that torch.compile compiled, why again, and where graphs broke",
    .refuses_at = "--by compiled is about a whole window and its peak; leave out --at, or use --by region",
    .show = Show,
};

}  // namespace memoir
