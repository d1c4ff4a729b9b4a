// A verb's options through CLI11, with this program's messages: one line, the nearest option named, exit code 2.
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
  std::string usage;  // what follows "memoir ", e.g. "show [OPTIONS] CAPTURE"
  std::string description;
  std::string examples;  // two lines, each "  COMMAND   # what it does"
};

// What verbs that read a capture say of CAPTURE.
inline constexpr char kCaptureHelp[] =
    "folder of the capture; or a snapshot.pickle of torch.cuda.memory._dump_snapshot(), or a trace.json of "
    "torch.profiler (docs/imports.md)";

std::unique_ptr<CLI::App> MakeArguments(const VerbHelp& help);

// The largest number that an option takes. The recorder reads as many digits.
inline constexpr std::uint32_t kMaxNumber = 999'999'999;

// An option with a whole number from 0 to kMaxNumber; anything else is refused with these words.
void AddNumber(CLI::App& app, const std::string& name, std::optional<std::uint32_t>& number, const std::string& help);

// Nothing: go on. A value: end with it (help was printed, or the mistake named).
std::optional<int> ParseArguments(CLI::App& app, const std::string& verb, std::vector<std::string> arguments);

// A verb's own options, and the command behind them.
struct CommandSplit {
  std::vector<std::string> options, command;
};

// Our options end at "--", or at the first word that is none: `memoir run python train.py` works too, and train.py's
// options are its own. All options but `flags` take a value.
CommandSplit SplitAtCommand(const std::vector<std::string>& arguments, const std::set<std::string>& flags);

}  // namespace memoir

#endif  // TOOLS_CLI_ARGUMENTS_ARGUMENTS_H_
