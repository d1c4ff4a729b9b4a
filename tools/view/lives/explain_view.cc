#include "tools/view/lives/explain_view.h"

#include <algorithm>

#include "fmt/format.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/model/import_source.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

constexpr char kExpected[] =
    "; expected, not observed: the recording ended too early, but earlier blocks of the same place had this category";

std::string Line(const Terminal& terminal, std::string_view name, const std::string& text) {
  constexpr std::size_t kIndent = 11;
  return "  " + Painted(terminal, Color::kBold, PaddedRight(name, kIndent - 2)) +
         Wrapped(text, terminal.width, kIndent) + "\n";
}

std::string PlaceText(const std::string& module, Phase phase) {
  const std::string of = module.empty() ? "" : " of " + ShownName(module);
  return phase == Phase::kOther && module.empty() ? "" : fmt::format(" ({}{})", ToString(phase), of);
}

std::string ReadingText(const BlockReading& reading) {
  return Escaped(reading.operator_name.empty() ? reading.node : reading.operator_name) +
         PlaceText(reading.module, reading.phase);
}

std::string Readings(const Capture& capture, const BlockStory& story) {
  // An operator reads a block if a tensor of the block is one of its arguments. Imported files lack arguments.
  if (IsImported(capture)) return NotInImport(capture, HasOperatorCalls(capture) ? "tensors" : "calls");
  std::string text;
  for (const BlockReading& reading : story.first_readings) text += (text.empty() ? "" : ", ") + ReadingText(reading);
  const std::uint64_t shown = story.first_readings.size() + (story.last_reading ? 1 : 0);
  if (story.readings > shown) text += fmt::format(", {} more", FormatCount(story.readings - shown));
  if (story.last_reading) text += ", last " + ReadingText(*story.last_reading);
  return text.empty() ? "by no operator" : text;
}

// Returns the holder of a block that autograd's graph keeps. If the backward pass read the block but did not free it, a
// reference of the program keeps the block from then on.
std::string KeptByGraph(const BlockStory& story) {
  const std::string graph = "autograd, for " + (story.saved_for.empty() ? "backward" : story.saved_for);
  if (story.first_readings.empty()) return graph;
  const BlockReading& last = story.last_reading ? *story.last_reading : story.first_readings.back();
  if (last.node.empty() || !story.freed_inside.empty()) return graph;
  return graph + ", until " + FormatMoment(last.ns) + "; then by a reference of the program";
}

std::string HolderText(const BlockStory& story) {
  const std::string of = story.parameter.empty() ? "a parameter" : story.parameter;
  switch (Rules()[story.rule].holder) {
    case HolderKind::kHolder:
      return "references to " + (story.parameter.empty() ? "it" : story.parameter) +
             " in its module, its optimizer or the program";
    case HolderKind::kGradient:
      return ".grad of " + of;
    case HolderKind::kOptimizer:
      return "the optimizer, as state of " + of;
    case HolderKind::kGraph:
      return KeptByGraph(story);
    case HolderKind::kUnusedGraph:
      return "autograd's graph, while the program refers to a result of it";
    case HolderKind::kRetainedGraph:
      return "autograd's graph, which backward kept (retain_graph=True), while the program refers to a result of it";
    case HolderKind::kAutograd:
      return "autograd, until the next node has run";
    case HolderKind::kProgram:
      return "a reference of the program";
    case HolderKind::kMaker:
      return "the operator, node or step that made it, while it ran";
    case HolderKind::kLibrary:
      return "the library whose workspace it is";
    case HolderKind::kCompiler:
      return "torch.compile, while it uses it";
    case HolderKind::kRanks:
      return "the code that combines the ranks' parts (DDP, FSDP)";
    case HolderKind::kNotKnown:
      break;
  }
  return "not known";
}

// Returns "train.py:90 main > net.py:12 Net.forward". A long stack is cut to its outermost frame and its innermost
// frames.
std::string StackText(const std::vector<SourceLine>& stack) {
  constexpr std::size_t kInnermost = 9;
  std::vector<std::string_view> files;
  for (const SourceLine& frame : stack) files.push_back(frame.file);
  const ShownFiles shown(files);
  std::string text;
  for (std::size_t i = 0; i < stack.size(); ++i) {
    const std::size_t hidden = stack.size() - std::min(stack.size(), kInnermost + 2);
    if (i == 1 && hidden > 0) {
      text += fmt::format(" > ({} more)", FormatCount(hidden + 1));
      i += hidden + 1;
    }
    text += (i == 0 ? "" : " > ") + Escaped(shown.LineText(stack[i]));
  }
  return text;
}

std::string LineLines(const BlockStory& story, const Terminal& terminal) {
  if (!story.line.known()) return "";
  constexpr std::size_t kWidth = 60;
  const bool backward = !story.forward_stack.empty();
  const std::string line = ShownLine(story.line, kWidth);
  std::string text = Line(terminal, "line", backward ? line + ", by backward of what it computed" : line);
  if (backward) text += Line(terminal, "forward", StackText(story.forward_stack));
  return story.stack.empty() ? text : text + Line(terminal, backward ? "backward" : "stack", StackText(story.stack));
}

Json FramesJson(const std::vector<SourceLine>& frames) {
  Json json = Json::array();
  for (const SourceLine& frame : frames) json.push_back(LineJson(frame));
  return json;
}

std::string Story(const Capture& capture, const BlockStory& story, const Terminal& terminal) {
  const Rule& rule = Rules()[story.rule];
  std::string title = fmt::format("0x{:x} on {}: {}", story.address, Escaped(story.device), FormatBytes(story.bytes));
  if (!story.tensor.empty()) title += ", " + Escaped(story.tensor);
  title += ", " + LabelOfCategory(CategoryOf(story.rule));
  std::string text = Painted(terminal, Color::kBold, Wrapped(title, terminal.width, 2)) + "\n";
  const std::string inferred = story.inferred ? " (inferred: its step was recorded without operators)" : "";
  const std::string step = story.step ? fmt::format(", step {}", *story.step) : "";
  const std::string maker = !story.made_by.empty()      ? "by " + Escaped(story.made_by)
                            : story.unseen              ? "while operators were not recorded"
                            : HasOperatorCalls(capture) ? "outside of any operator"
                                                        : "by an operator that is not known";
  text += Line(terminal, "made",
               FormatMoment(story.made_ns) + " " + maker + PlaceText(story.module, story.phase) + step + inferred);
  text += LineLines(story, terminal);
  text += Line(terminal, "rule", fmt::format("{}: {}{}", rule.name, rule.because, story.expected ? kExpected : ""));
  text += Line(terminal, "kept by", Escaped(HolderText(story)));
  text += Line(terminal, "read", Readings(capture, story));
  if (!story.freed_ns) return text + Line(terminal, "freed", "never: live at the end");
  const std::string inside = !HasOperatorCalls(capture)   ? ""
                             : story.freed_inside.empty() ? ", outside of any operator"
                                                          : ", inside " + Escaped(story.freed_inside);
  return text + Line(terminal, "freed",
                     fmt::format("{}, after {}{}", FormatMoment(*story.freed_ns),
                                 FormatDuration(*story.freed_ns - std::min(*story.freed_ns, story.made_ns)), inside));
}

Json ReadingJson(const BlockReading& reading) {
  return {{"time_ns", reading.ns},
          {"operator", reading.operator_name},
          {"module", reading.module},
          {"phase", ToString(reading.phase)},
          {"node", reading.node}};
}

Json StoryJson(const BlockStory& story) {
  const Rule& rule = Rules()[story.rule];
  Json json = {{"address", fmt::format("0x{:x}", story.address)},
               {"bytes", story.bytes},
               {"device", story.device},
               {"rank", RankJson(story.rank)},
               {"tensor", story.tensor},
               {"made_time_ns", story.made_ns},
               {"made_by", story.made_by},
               {"inferred", story.inferred},
               {"line", LineJson(story.line)},
               {"stack", FramesJson(story.stack)},
               {"forward_stack", FramesJson(story.forward_stack)},
               {"module", story.module},
               {"phase", ToString(story.phase)},
               {"step", story.step ? Json(*story.step) : Json(nullptr)},
               {"category", NameOf(rule.kept)},
               {"detail", rule.detail},
               {"rule", rule.name},
               {"because", rule.because},
               {"expected", story.expected},
               {"parameter", story.parameter.empty() ? Json(nullptr) : Json(story.parameter)},
               {"kept_by", HolderText(story)},
               {"reading_count", story.readings},
               {"freed_time_ns", story.freed_ns ? Json(*story.freed_ns) : Json(nullptr)},
               {"freed_inside", story.freed_inside}};
  Json& readings = json["readings"] = Json::array();
  for (const BlockReading& reading : story.first_readings) readings.push_back(ReadingJson(reading));
  if (story.last_reading) readings.push_back(ReadingJson(*story.last_reading));
  return json;
}

}  // namespace

std::string RenderExplanation(const Capture& capture, const Explanation& explanation, std::size_t top,
                              const Terminal& terminal) {
  std::string text = RenderProgram(capture, terminal);
  const std::vector<BlockStory>& stories = explanation.stories;
  const std::size_t shown = top == 0 ? stories.size() : std::min(top, stories.size());
  if (shown < explanation.matches) {
    const std::string all = fmt::format(
        "{} in all, {} shown: first parameters, gradients and optimizer state, then the newest{}",
        FormatCounted(explanation.matches, "block", "blocks"), shown, shown < stories.size() ? " (--top 0: all)" : "");
    text += Wrapped(all, terminal.width, 0) + "\n";
  }
  for (std::size_t i = 0; i < shown; ++i) text += "\n" + Story(capture, stories[i], terminal);
  if (!explanation.missing.empty()) text += "\n" + Wrapped(explanation.missing, terminal.width, 0) + "\n";
  return text + "\n" + RenderLosses(capture, explanation.report, terminal);
}

Json ExplanationJson(const Capture& capture, const Explanation& explanation) {
  Json json = CaptureJson(capture, explanation.report, "explain");
  json["missing"] = explanation.missing;
  json["matches"] = explanation.matches;
  Json& blocks = json["blocks"] = Json::array();
  for (const BlockStory& story : explanation.stories) blocks.push_back(StoryJson(story));
  return json;
}

}  // namespace memoir
