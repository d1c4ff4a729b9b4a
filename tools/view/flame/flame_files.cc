#include "tools/view/flame/flame_files.h"

#include <algorithm>
#include <iterator>

#include "fmt/format.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

// Returns a frame without newlines and ";", because a stack is one line with ";" between its frames.
std::string CollapsedFrame(const FlameFrame& frame) {
  std::string text = frame.function;
  if (!frame.short_file.empty()) {
    text += " (" + frame.short_file;
    if (frame.line != 0) text += ":" + std::to_string(frame.line);
    text += ')';
  }
  text = Escaped(text);
  std::ranges::replace(text, ';', ',');
  return text;
}

Json FrameJson(const FlameFrame& frame) {
  Json json = {{"name", frame.function}};
  if (!frame.file.empty()) json["file"] = frame.file;
  if (frame.line != 0) json["line"] = frame.line;
  return json;
}

Json ProfileJson(const FlameSamples& samples, const FlameMeasure& measure) {
  Json stacks = Json::array(), weights = Json::array();
  std::uint64_t total = 0;
  for (const FlameSample& sample : samples.samples) {
    const std::uint64_t bytes = sample.sums.*measure.bytes;
    if (bytes == 0) continue;
    stacks.push_back(sample.frames);
    weights.push_back(bytes);
    total += bytes;
  }
  return {
      {"type", "sampled"}, {"name", measure.title},        {"unit", "bytes"}, {"startValue", 0}, {"endValue", total},
      {"samples", stacks}, {"weights", std::move(weights)}};
}

}  // namespace

std::string CollapsedStacks(const FlameSamples& samples, const FlameMeasure& measure) {
  std::vector<std::string> frames;
  for (const FlameFrame& frame : samples.frames) frames.push_back(CollapsedFrame(frame));
  std::string text;
  for (const FlameSample& sample : samples.samples) {
    const std::uint64_t bytes = sample.sums.*measure.bytes;
    if (bytes == 0) continue;
    std::string_view between;
    for (const std::uint32_t frame : sample.frames) {
      fmt::format_to(std::back_inserter(text), "{}{}", between, frames[frame]);
      between = ";";
    }
    fmt::format_to(std::back_inserter(text), " {}\n", bytes);
  }
  return text;
}

std::string SpeedscopeJson(const FlameSamples& samples, const FlameMeasure& first, std::string_view name) {
  Json frames = Json::array(), profiles = Json::array();
  for (const FlameFrame& frame : samples.frames) frames.push_back(FrameJson(frame));
  for (const FlameMeasure& measure : kFlameMeasures) profiles.push_back(ProfileJson(samples, measure));
  return ToText({{"$schema", "https://www.speedscope.app/file-format-schema.json"},
                 {"exporter", "memoir"},
                 {"name", name},
                 {"activeProfileIndex", &first - kFlameMeasures},
                 {"shared", {{"frames", std::move(frames)}}},
                 {"profiles", std::move(profiles)}});
}

}  // namespace memoir
