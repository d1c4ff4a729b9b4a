#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tools/analyze/tree/range_tree.h"
#include "tools/analyze/tree/range_tree_analysis.h"
#include "tools/cli/show/show_view.h"
#include "tools/cli/terminal/nearest.h"
#include "tools/view/tree/tree_view.h"

namespace memoir {
namespace {

std::optional<TreeCalls> ParseCalls(std::string_view word) {
  if (word == "own") return TreeCalls::kOwn;
  if (word == "all") return TreeCalls::kAll;
  if (word == "none") return TreeCalls::kNone;
  return std::nullopt;
}

ShownText Show(const ShowRequest& request) {
  RangeTreeOptions options;
  static_cast<Selection&>(options) = request.selection;
  if (request.arguments.json) options.width = SIZE_MAX;
  if (request.arguments.top) options.width = *request.arguments.top == 0 ? SIZE_MAX : *request.arguments.top;
  if (options.width == SIZE_MAX) options.depth = 0;
  if (request.arguments.depth) options.depth = *request.arguments.depth;
  constexpr double kShare = 0.005;  // because a person reads the page
  if (!request.arguments.json && !request.arguments.top && request.arguments.grep.empty()) options.share = kShare;
  options.thread = request.arguments.thread;
  options.grep = request.arguments.grep;
  options.calls = *ParseCalls(request.arguments.calls);
  const auto tree = AnalyzeRangeTree(request.capture, options);
  if (!tree.ok()) return tree.status();
  return request.arguments.json
             ? ToText(TreeJson(request.capture, *tree))
             : ChosenBlocksLine(request.selection) + RenderTree(request.capture, *tree, request.terminal);
}

bool IsChosen(const ShowArguments& arguments) { return arguments.tree; }

std::string Complaint(const ShowArguments& arguments) {
  if (ParseCalls(arguments.calls)) return "";
  const std::vector<std::string> words = {"own", "all", "none"};
  return "--calls " + arguments.calls + ": not one of own, all, none" + DidYouMean(arguments.calls, words);
}

}  // namespace

const ShowView kShowTree = {
    .is_chosen = IsChosen,
    .complaint = Complaint,
    .shows_blocks = true,
    .has_lines = true,
    .has_levels = true,
    .show = Show,
};

}  // namespace memoir
