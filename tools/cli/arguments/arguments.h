// Parses a verb's options with CLI11. A mistake in the arguments is reported in one line, and the exit code is 2. For
// an unknown option, the line names the option with the most similar name.
#ifndef TOOLS_CLI_ARGUMENTS_ARGUMENTS_H_
#define TOOLS_CLI_ARGUMENTS_ARGUMENTS_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "CLI/CLI.hpp"

namespace memoir {

struct VerbHelp {
  std::string verb;   // "show"
  std::string usage;  // the words after "memoir ", such as "show [OPTIONS] CAPTURE"
  std::string description;
  std::string examples;  // two lines, each "  COMMAND   # what it does"
};

// The help text of the argument CAPTURE, for verbs that read a capture.
inline constexpr char kCaptureHelp[] =
    "folder of the capture; or a snapshot.pickle of torch.cuda.memory._dump_snapshot(), or a trace.json of "
    "torch.profiler (docs/imports.md)";

// Returns a parser that prints `help`. The caller adds the verb's options to the parser.
std::unique_ptr<CLI::App> MakeArguments(const VerbHelp& help);

// The largest number that an option accepts.
inline constexpr std::uint32_t kMaxNumber = 999'999'999;

// Adds an option with a whole number from 0 to kMaxNumber. Other values are refused with a message about this range.
void AddNumber(CLI::App& app, const std::string& name, std::optional<std::uint32_t>& number, const std::string& help);

// Parses `arguments`. Returns an exit code if the verb must end because the help or an error message was printed;
// otherwise nullopt.
std::optional<int> ParseArguments(CLI::App& app, const std::string& verb, std::vector<std::string> arguments);

// The arguments of a verb that runs a command: the verb's own options, and the words of the command.
struct SplitArguments {
  std::vector<std::string> options, command;
};

// Memoir's options end at "--", or at the first word that is not an option. For example, in `memoir run python train.py
// --x`, the option --x belongs to train.py. All options except `flags` have a value.
SplitArguments SplitAtCommand(const std::vector<std::string>& arguments, const std::set<std::string>& flags);

}  // namespace memoir

#endif  // TOOLS_CLI_ARGUMENTS_ARGUMENTS_H_
