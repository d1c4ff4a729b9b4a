#include "tools/view/lives/explain_view.h"

#include <algorithm>

#include "fmt/format.h"
#include "tools/analyze/categories/block_categories.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

constexpr char kExpected[] =
    "; expected: the recording ended before that showed, and earlier blocks of the same place became it";

std::string Line(const Terminal& terminal, std::string_view name, const std::string& text) {
  constexpr std::size_t kIndent = 11;
  return "  " + Painted(terminal, Color::kBold, PaddedRight(name, kIndent - 2)) +
         Wrapped(text, terminal.width, kIndent) + "\n";
}

std::string Where(const std::string& module, Phase phase) {
  const std::string of = module.empty() ? "" : " of " + ShownName(module);
  return phase == Phase::kOther && module.empty() ? "" : fmt::format(" ({}{})", ToString(phase), of);
}

std::string ReadingText(const Reading& reading) {
  return Escaped(reading.operator_name.empty() ? reading.node : reading.operator_name) +
         Where(reading.module, reading.phase);
}

std::string Readings(const BlockStory& story) {
  std::string text;
  for (const Reading& reading : story.first_readings) text += (text.empty() ? "" : ", ") + ReadingText(reading);
  const std::uint64_t shown = story.first_readings.size() + (story.last_reading ? 1 : 0);
  if (story.readings > shown) text += fmt::format(", {} more", FormatCount(story.readings - shown));
  if (story.last_reading) text += ", last " + ReadingText(*story.last_reading);
  return text.empty() ? "by no operator" : text;
}

// What backward is through with and nobody gave back there is kept by somebody else.
std::string KeptByGraph(const BlockStory& story) {
  const std::string graph = "autograd, for " + (story.saved_for.empty() ? "backward" : story.saved_for);
  if (story.first_readings.empty()) return graph;
  const Reading& last = story.last_reading ? *story.last_reading : story.first_readings.back();
  if (last.node.empty() || !story.freed_inside.empty()) return graph;
  return graph + ", until " + FormatMoment(last.ns) + "; then the program, as long as it had a reference";
}

std::string KeptBy(const BlockStory& story) {
  const std::string of = story.parameter.empty() ? "a parameter" : story.parameter;
  switch (Rules()[story.rule].keeper) {
    case Keeper::kHolder:
      return "who holds " + (story.parameter.empty() ? "it" : story.parameter);
    case Keeper::kGradient:
      return ".grad of " + of;
    case Keeper::kOptimizer:
      return "the optimizer, as state of " + of;
    case Keeper::kGraph:
      return KeptByGraph(story);
    case Keeper::kUnusedGraph:
      return "autograd's graph, as long as the program had a result of it";
    case Keeper::kRetainedGraph:
      return "autograd's graph, which backward kept (retain_graph=True), as long as the program had a result of it";
    case Keeper::kAutograd:
      return "autograd, on its way to the next node";
    case Keeper::kProgram:
      return "the program, as long as it had a reference";
    case Keeper::kMaker:
      return "what made it, while that ran";
    case Keeper::kLibrary:
      return "the library that works in it";
    case Keeper::kCompiler:
      return "torch.compile, as long as it had a use for it";
    case Keeper::kRanks:
      return "who puts the ranks' parts together";
    case Keeper::kNotKnown:
      break;
  }
  return "not known";
}

std::string Story(const BlockStory& story, const Terminal& terminal) {
  const Rule& rule = Rules()[story.rule];
  std::string title = fmt::format("0x{:x} on {}: {}", story.address, Escaped(story.device), FormatBytes(story.bytes));
  if (!story.tensor.empty()) title += ", " + Escaped(story.tensor);
  title += ", " + LabelOfCategory(CategoryOf(story.rule));
  std::string text = Painted(terminal, Color::kBold, title) + "\n";
  const std::string step = story.step ? fmt::format(", step {}", *story.step) : "";
  const std::string maker = story.made_by.empty() ? "outside of any operator" : "by " + Escaped(story.made_by);
  text += Line(terminal, "made", FormatMoment(story.made_ns) + " " + maker + Where(story.module, story.phase) + step);
  text += Line(terminal, "rule", fmt::format("{}: {}{}", rule.name, rule.because, story.expected ? kExpected : ""));
  text += Line(terminal, "kept by", Escaped(KeptBy(story)));
  text += Line(terminal, "read", Readings(story));
  if (!story.freed_ns) return text + Line(terminal, "freed", "not: live at the end");
  const std::string inside =
      story.freed_inside.empty() ? "outside of any operator" : "inside " + Escaped(story.freed_inside);
  return text + Line(terminal, "freed",
                     fmt::format("{}, after {}, {}", FormatMoment(*story.freed_ns),
                                 FormatDuration(*story.freed_ns - std::min(*story.freed_ns, story.made_ns)), inside));
}

Json ReadingJson(const Reading& reading) {
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
               {"module", story.module},
               {"phase", ToString(story.phase)},
               {"step", story.step ? Json(*story.step) : Json(nullptr)},
               {"category", NameOf(rule.kept)},
               {"detail", rule.detail},
               {"rule", rule.name},
               {"because", rule.because},
               {"expected", story.expected},
               {"parameter", story.parameter.empty() ? Json(nullptr) : Json(story.parameter)},
               {"kept_by", KeptBy(story)},
               {"reading_count", story.readings},
               {"freed_time_ns", story.freed_ns ? Json(*story.freed_ns) : Json(nullptr)},
               {"freed_inside", story.freed_inside}};
  Json& readings = json["readings"] = Json::array();
  for (const Reading& reading : story.first_readings) readings.push_back(ReadingJson(reading));
  if (story.last_reading) readings.push_back(ReadingJson(*story.last_reading));
  return json;
}

}  // namespace

std::string RenderExplanation(const Capture& capture, const Explanation& explanation, std::size_t top,
                              const Terminal& terminal) {
  std::string text = RenderWhatRan(capture, terminal);
  const std::vector<BlockStory>& stories = explanation.stories;
  const std::size_t shown = top == 0 ? stories.size() : std::min(top, stories.size());
  if (shown < explanation.matches) {
    text += fmt::format("{} in all; here {}, parameters and their like first, then the newest{}\n",
                        FormatCounted(explanation.matches, "block", "blocks"), shown,
                        shown < stories.size() ? " (--top 0: all)" : "");
  }
  for (std::size_t i = 0; i < shown; ++i) text += "\n" + Story(stories[i], terminal);
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
