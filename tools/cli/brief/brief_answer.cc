#include "tools/cli/brief/brief_answer.h"

#include <cstddef>
#include <utility>

#include "absl/strings/str_join.h"
#include "tools/cli/arguments/typed_path.h"
#include "tools/view/brief/brief.h"
#include "tools/view/brief/finding.h"
#include "tools/view/json/json.h"
#include "tools/view/terminal/printed_command.h"

namespace memoir {
namespace {

using Words = std::vector<std::string>;

// Returns a command for any shell. Characters that a terminal would interpret stay unchanged, because JSON escapes
// them.
std::string Command(const Words& words) {
  Words typed;
  for (const std::string& word : words) typed.push_back(IsPlainWord(word) ? word : QuotedForShell(word));
  return PrintedCommand(absl::StrJoin(typed, " "));
}

std::string Brief(const Json& whole, Words words, const std::string& capture) {
  Words without_path = words;
  words.push_back(WithDotSlash(capture));
  without_path.push_back("CAPTURE");
  return BriefText(whole, Command(words), Command(without_path));
}

// Adds the options of the selection to the next command, whose words are `words`. `check` has no option --range.
void AddSelection(const SelectionArguments& selection, Words& words) {
  const bool checks = words.front() == "check";
  const std::pair<const char*, std::string> options[] = {
      {"--range", checks ? "" : selection.range},
      {"--steps", selection.steps},
      {"--from", selection.from},
      {"--to", selection.to},
      {"--device", selection.device},
      {"--rank", selection.rank ? std::to_string(*selection.rank) : ""},
      {"--module", selection.module},
      {"--min-size", selection.min_size},
      {"--run", selection.run == "last" ? "" : selection.run}};
  for (const auto& [name, value] : options) {
    if (!value.empty()) words.insert(words.end(), {name, value});
  }
}

}  // namespace

void AddJson(CLI::App& app, bool& json, bool& brief, const std::string& help) {
  app.add_flag("--json", json, help);
  app.add_flag_callback(
      "--brief", [&json, &brief] { json = brief = true; },
      "JSON in at most 4 KiB: what was found, the rows that show it, the next command (docs/json.md)");
}

std::string BriefAnswer(const std::string& json, const SelectionArguments& selection, const std::string& capture) {
  const Json whole = Json::parse(json);
  Words words = NextAfter(whole);
  // `memoir check leaks` accepts options that select blocks. Other single checks do not.
  SelectionArguments taken = selection;
  if (words.front() == "check" && words.size() == 2 && words[1] != "leaks") taken.module = taken.min_size = "";
  AddSelection(taken, words);
  words.emplace_back("--brief");
  return Brief(whole, std::move(words), capture);
}

std::string BriefAnswer(const std::string& json, const Words& next) {
  return BriefText(Json::parse(json), Command(next), Command(next));
}

std::string BriefFit(const std::string& json, const std::string& card, const Words& command) {
  Words next = {"run", "-o", "memoir-" + card, "--simulate", card, "--"};
  Words short_of_it = next;
  short_of_it.emplace_back("COMMAND");
  next.insert(next.end(), command.begin(), command.end());
  return BriefText(Json::parse(json), Command(next), Command(short_of_it));
}

std::string BriefDiff(const std::string& json, const Words& words) {
  const Json whole = Json::parse(json);
  Words next = NextAfter(whole);
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == "--by") {
      ++i;
    } else if (!words[i].starts_with("--by=")) {
      next.push_back(words[i]);
    }
  }
  const Words beginning = {"diff", "--by", next[2], "--brief", "CAPTURE", "CAPTURE"};
  return BriefText(whole, Command(next), Command(beginning));
}

}  // namespace memoir
