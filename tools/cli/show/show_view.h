// The views of memoir show: what chooses a view, which options it takes, and what it prints.
#ifndef TOOLS_CLI_SHOW_SHOW_VIEW_H_
#define TOOLS_CLI_SHOW_SHOW_VIEW_H_

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "tools/analyze/pass/window/selection.h"
#include "tools/cli/show/show_arguments.h"
#include "tools/model/capture.h"
#include "tools/view/terminal/terminal.h"

namespace memoir {

struct ShowRequest {
  const Capture& capture;
  const ShowArguments& arguments;  // valid for the view
  const Selection& selection;
  const Terminal& terminal;
  // The number of rows: --top, else `usual` in text, and all (0) in JSON.
  std::uint32_t top(std::uint32_t usual) const { return arguments.top.value_or(arguments.json ? 0 : usual); }
};
using ShownText = absl::StatusOr<std::string>;  // text or JSON

struct ShowView {
  std::string_view by = "";                           // its word for --by; "": other options choose the view
  std::string_view by_help = "";                      // its rows, for --help
  bool (*is_chosen)(const ShowArguments&) = nullptr;  // only for a view without a word
  std::string_view refuses_at = "";                   // the message if --at is given; "": no message
  // Describes an option that the view does not take, or "". nullptr: the other fields describe all options.
  std::string (*complaint)(const ShowArguments&) = nullptr;
  bool shows_blocks = false;                        // takes --module and --min-size
  bool has_lines = false;                           // takes --own with any value of --by
  bool has_levels = false;                          // takes --depth
  ShownText (*show)(const ShowRequest&) = nullptr;  // nullptr: the view of a job, which needs no open capture
};

// All views, in the order in which they are tried. The last one takes every choice.
absl::Span<const ShowView* const> ShowViews();
const ShowView& ChosenView(const ShowArguments& arguments);

// Returns "the peak", "the last out-of-memory error", or the time as typed.
std::string InstantName(const std::string& at);

// kShowJob is defined in show_view.cc, each other view in the source of its name.
extern const ShowView kShowCheckpointing, kShowCompiled, kShowJob, kShowKernels, kShowLiveBlocks, kShowOverOperators,
    kShowOverTime, kShowSegments, kShowStacks, kShowSummary, kShowTree;

}  // namespace memoir

#endif  // TOOLS_CLI_SHOW_SHOW_VIEW_H_
