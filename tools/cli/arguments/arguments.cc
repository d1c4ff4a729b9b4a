#include "tools/cli/arguments/arguments.h"

#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "absl/strings/str_split.h"
#include "tools/cli/arguments/option_values.h"
#include "tools/cli/terminal/exit_code.h"
#include "tools/cli/terminal/nearest.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/view/terminal/terminal.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

// Formats the help text, with lines wrapped to the terminal's width. CLI11 itself does not wrap lines.
class HelpFormatter : public CLI::Formatter {
 public:
  explicit HelpFormatter(const std::string& usage) : usage_("usage: memoir " + usage + "\n") {}

  std::string make_usage(const CLI::App*, std::string) const override { return usage_; }

  std::string make_description(const CLI::App* app) const override {
    std::string text;
    for (const std::string& paragraph : std::vector<std::string>(absl::StrSplit(app->get_description(), '\n')))
      text += Wrapped(paragraph, width_, 0) + "\n";
    return text;
  }

  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    const std::string name = "  " + make_option_name(option, is_positional) + make_option_opts(option);
    const std::string gap =
        name.size() < kColumn ? std::string(kColumn - name.size(), ' ') : "\n" + std::string(kColumn, ' ');
    return name + gap + Wrapped(make_option_desc(option), width_, kColumn) + "\n";
  }

 private:
  static constexpr std::size_t kColumn = 26;  // column of the options' descriptions

  const std::string usage_;
  const std::size_t width_ = std::min(DetectTerminal(STDOUT_FILENO).width, std::size_t{100});
};

std::vector<std::string> OptionNames(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::string UnknownArgument(const CLI::App& app, const std::string& argument) {
  if (!argument.starts_with('-')) return "unexpected argument '" + argument + "'";
  const std::string name = argument.substr(0, argument.find('='));
  return "unknown option " + name + DidYouMean(name, OptionNames(app));
}

// Returns the words that CLI11 did not recognize, without the "--" that ends the options.
std::vector<std::string> Extras(const CLI::App& app) {
  std::vector<std::string> extras = app.remaining();
  if (const auto mark = std::ranges::find(extras, "--"); mark != extras.end()) extras.erase(mark);
  return extras;
}

// Returns a message of CLI11, which may have several lines, as one line.
std::string OneLine(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  text.erase(text.find_last_not_of(' ') + 1);
  return text;
}

// Returns the message for `error`. CLI11's own messages about values contain internal terms ("Could not convert", "1
// required UINT missing"), so other words replace them.
std::string Mistake(const CLI::ParseError& error) {
  std::string text = OneLine(error.what());
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) {
    const bool twice = text.find("At Most") != std::string::npos;
    return text.substr(0, text.find(':')) + (twice ? ": given more than once" : ": a value is missing");
  }
  if (dynamic_cast<const CLI::ConversionError*>(&error) == nullptr) return text;
  const std::string start = "Could not convert: ";
  if (text.starts_with(start)) text.erase(0, start.size());
  return text + ": not a value that it takes";
}

}  // namespace

void AddNumber(CLI::App& app, const std::string& name, std::optional<std::uint32_t>& number, const std::string& help) {
  app.add_option_function<std::string>(
      name,
      [&number, name](const std::string& text) {
        const std::optional<std::uint64_t> value = ParseDigits(text);
        if (!value || *value > kMaxNumber)
          throw CLI::ValidationError(name + " " + text + ": expected a whole number, at most 999999999");
        number = static_cast<std::uint32_t>(*value);
      },
      help);
}

std::unique_ptr<CLI::App> MakeArguments(const VerbHelp& help) {
  auto app = std::make_unique<CLI::App>(help.description, "memoir " + help.verb);
  app->formatter(std::make_shared<HelpFormatter>(help.usage));
  app->footer("\nExamples:\n" + help.examples);
  app->allow_extras();  // collects unknown words, so that the message can name the first one
  return app;
}

std::optional<int> ParseArguments(CLI::App& app, const std::string& verb, std::vector<std::string> arguments) {
  try {
    std::ranges::reverse(arguments);  // CLI11 reads the vector from its end
    app.parse(arguments);
  } catch (const CLI::CallForHelp&) {
    return WriteOutput(app.help());
  } catch (const CLI::ParseError& error) {
    const auto extras = Extras(app);
    return FailUsage(verb, extras.empty() ? Mistake(error) : UnknownArgument(app, extras.front()));
  }
  const auto extras = Extras(app);
  if (!extras.empty()) return FailUsage(verb, UnknownArgument(app, extras.front()));
  return std::nullopt;
}

SplitArguments SplitAtCommand(const std::vector<std::string>& arguments, const std::set<std::string>& flags) {
  std::size_t i = 0;
  while (i < arguments.size() && arguments[i].size() > 1 && arguments[i][0] == '-' && arguments[i] != "--") {
    const bool long_option = arguments[i].starts_with("--");
    const bool value_inside = long_option ? arguments[i].find('=') != std::string::npos : arguments[i].size() > 2;
    i += flags.contains(arguments[i]) || value_inside ? 1 : 2;
  }
  i = std::min(i, arguments.size());
  const auto middle = arguments.begin() + static_cast<std::ptrdiff_t>(i);
  SplitArguments split{{arguments.begin(), middle}, {middle, arguments.end()}};
  if (!split.command.empty() && split.command.front() == "--") split.command.erase(split.command.begin());
  // If an option directly before "--" lacks its value, the loop has skipped "--" as this value. CLI11 then reports that
  // the option has no value.
  return split;
}

}  // namespace memoir
