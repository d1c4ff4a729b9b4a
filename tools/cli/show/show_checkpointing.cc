#include "tools/analyze/checkpointing/checkpointing.h"
#include "tools/cli/show/show_view.h"
#include "tools/model/import_source.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/checkpointing/checkpoint_view.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

ShownText Show(const ShowRequest& request) {
  const auto checkpointing = AnalyzeCheckpointing(request.capture, request.selection);
  if (!checkpointing.ok()) return checkpointing.status();
  if (request.arguments.json) return ToText(CheckpointingJson(request.capture, *checkpointing, request.top(0)));
  if (IsImported(request.capture)) {
    return RenderProgram(request.capture, request.terminal) +
           Wrapped(NotInImport(request.capture, "tensors, and what backward needs is known by them"),
                   request.terminal.width, 2) +
           "\n";
  }
  return RenderCheckpointing(request.capture, *checkpointing, request.top(10), request.terminal);
}

}  // namespace

const ShowView kShowCheckpointing = {
    .by = "checkpoint",
    .by_help = "what activation checkpointing of each module would do to the peak",
    .refuses_at = "--by checkpoint is about the peak of a whole window; leave out --at",
    .show = Show,
};

}  // namespace memoir
