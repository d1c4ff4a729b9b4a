#include "tools/cli/export/export_flame.h"

#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/stacks/stack_tree.h"
#include "tools/cli/terminal/nearest.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/view/flame/flame_files.h"

namespace memoir {
namespace {

absl::StatusOr<StackTree> TreeOf(const Capture& capture, const FlameExport& asked, const Selection& selection) {
  StackTreeOptions options;
  static_cast<Selection&>(options) = selection;
  options.all_frames = asked.all_frames;
  if (asked.by == "module") options.kind = StackTreeOptions::Kind::kPlaces;
  absl::StatusOr<StackTree> tree = AnalyzeStackTree(capture, options);
  if (!tree.ok() || tree->missing.empty()) return tree;
  if (tree->missing != kNoStacks || asked.by == "stack") {
    PrintMessage(tree->missing);
    return tree;
  }
  PrintMessage("no Python stack was recorded (memoir run --stacks python): by module and operator");
  options.kind = StackTreeOptions::Kind::kPlaces;
  return AnalyzeStackTree(capture, options);
}

void PrintOmissions(const StackTree& tree) {
  if (tree.is_partly_evicted) PrintMessage("what was allocated in parts that --max-size removed is not in it");
  if (tree.devices.size() > 1)
    PrintMessage(absl::StrCat(
        "of ", tree.devices.size(),
        " devices together, each at its own peak; --device takes one: ", absl::StrJoin(tree.devices, ", ")));
}

}  // namespace

bool IsFlameExport(std::string_view what) { return what == "collapsed" || what == "speedscope" || what == "pprof"; }

void AddFlameOptions(CLI::App& app, FlameExport& asked) {
  app.add_option("--by", asked.by,
                 "collapsed, speedscope, pprof: frames are the Python callers (stack), or modules and operators "
                 "(module) [stack, of recordings that have them]");
  app.add_option("--measure", asked.measure,
                 "collapsed: bytes at the peak, allocated, temporary, or kept until the end; speedscope, pprof have "
                 "all of them, and show this one first [peak]");
  app.add_flag("--all-frames", asked.all_frames,
               "collapsed, speedscope, pprof: also frames of libraries; without it they belong to the line that called "
               "them");
}

std::string ComplaintAbout(const FlameExport& asked, std::string_view what) {
  if (!IsFlameExport(what)) {
    const bool any = asked.all_frames || !(asked.by + asked.measure).empty();
    return any ? "--by, --measure and --all-frames work only with collapsed, speedscope and pprof" : "";
  }
  if (!asked.by.empty() && asked.by != "stack" && asked.by != "module")
    return "--by " + asked.by + ": not one of stack, module" +
           DidYouMean(asked.by, std::vector<std::string>{"stack", "module"});
  if (asked.all_frames && asked.by == "module") return "--all-frames works only with --by stack";
  if (asked.measure.empty() || FindFlameMeasure(asked.measure) != nullptr) return "";
  std::vector<std::string> words;
  for (const FlameMeasure& measure : kFlameMeasures) words.emplace_back(measure.word);
  return absl::StrCat("--measure ", asked.measure, ": not one of ", absl::StrJoin(words, ", "),
                      DidYouMean(asked.measure, words));
}

absl::StatusOr<ReplayReport> ExportFlame(const Capture& capture, std::string_view what, const FlameExport& asked,
                                         const Selection& selection,
                                         const std::function<void(std::string_view)>& write) {
  absl::StatusOr<StackTree> tree = TreeOf(capture, asked, selection);
  if (!tree.ok()) return tree.status();
  PrintOmissions(*tree);
  const FlameMeasure& measure = *FindFlameMeasure(asked.measure.empty() ? "peak" : asked.measure);
  const FlameSamples samples = SamplesOf(*tree);
  if (what == "collapsed") {
    write(CollapsedStacks(samples, measure));
  } else if (what == "speedscope") {
    write(SpeedscopeJson(samples, measure, capture.path()));
  } else {
    write(PprofProfile(samples, measure, "memory of " + absl::StrJoin(tree->devices, ", ")));
  }
  return std::move(tree->report);
}

}  // namespace memoir
