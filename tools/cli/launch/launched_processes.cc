#include "tools/cli/launch/launched_processes.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "tools/cli/arguments/option_values.h"

namespace memoir {
namespace {

using Strings = std::vector<std::string>;

// An option with dashes, and its shortest prefix that Python's argparse accepts.
struct Option {
  std::string_view name, shortest;
};

struct Launcher {
  std::array<std::string_view, 4> programs;
  std::array<std::string_view, 2> modules;  // started with python -m
  std::array<Option, 3> processes;
  Option machines;       // option with the number of machines; `processes` then is the sum over all machines
  const char* variable;  // environment variable that replaces the option; nullptr: no such variable
};

constexpr Option kNone = {};
constexpr Launcher kLaunchers[] = {
    {{"torchrun"},
     {"torch.distributed.run", "torch.distributed.launch"},
     {{{"--nproc-per-node", "--np"}}},
     kNone,
     "PET_NPROC_PER_NODE"},
    {{"accelerate", "accelerate-launch"},
     {"accelerate.commands.launch", "accelerate.commands.accelerate_cli"},
     {{{"--num-processes", "--num-p"}}},
     {"--num-machines", "--num-m"},
     nullptr},
    {{"deepspeed"}, {"deepspeed.launcher.runner"}, {{{"--num-gpus", "--num-g"}}}, kNone, nullptr},
    {{"mpirun", "mpiexec", "mpirun.openmpi", "orterun"},
     {},
     {{{"-np", "-np"}, {"-n", "-n"}, {"--np", "--np"}}},
     kNone,
     nullptr},
};

template <typename Names>
bool Has(const Names& names, std::string_view name) {
  return !name.empty() && std::ranges::find(names, name) != names.end();
}

// Returns the words before the program that the launcher starts. Later options belong to the program.
Strings WordsOfLauncher(const Strings& command) {
  const auto end =
      std::ranges::find_if(command, [](const std::string& word) { return word == "--" || word.ends_with(".py"); });
  return {command.begin(), end};
}

const Launcher* LauncherAt(const Strings& words, std::size_t at) {
  const std::string program = std::filesystem::path(words[at]).filename().string();
  const bool is_module = words[at].starts_with("-m");
  std::string module = is_module ? words[at].substr(2) : "";
  if (is_module && module.empty() && at + 1 < words.size()) module = words[at + 1];
  const auto found = std::ranges::find_if(
      kLaunchers, [&](const Launcher& each) { return Has(each.programs, program) || Has(each.modules, module); });
  return found == std::end(kLaunchers) ? nullptr : found;
}

bool IsOption(const Option& option, std::string word) {
  std::ranges::replace(word, '_', '-');
  return !option.name.empty() && option.name.starts_with(word) && word.size() >= option.shortest.size();
}

// Returns the value in "--option VALUE" or "--option=VALUE". If the option occurs several times, the last value is
// used, as in the launchers.
std::optional<std::uint64_t> NumberOf(const Option& option, const Strings& words, std::size_t from) {
  std::optional<std::uint64_t> number;
  for (std::size_t i = from; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    if (!IsOption(option, words[i].substr(0, equals))) continue;
    if (equals != std::string::npos) {
      number = ParseDigits(std::string_view(words[i]).substr(equals + 1));
    } else if (i + 1 < words.size()) {
      number = ParseDigits(words[i + 1]);
    }
  }
  return number;
}

std::optional<std::uint64_t> ProcessesOf(const Launcher& launcher, const Strings& words, std::size_t from) {
  for (const Option& option : launcher.processes) {
    const auto number = NumberOf(option, words, from);
    const std::uint64_t machines = NumberOf(launcher.machines, words, from).value_or(1);
    if (number && machines > 0) return (*number + machines - 1) / machines;
  }
  const char* const value = launcher.variable == nullptr ? nullptr : std::getenv(launcher.variable);
  return value == nullptr ? std::nullopt : ParseDigits(value);
}

}  // namespace

std::optional<std::uint32_t> LaunchedProcesses(const Strings& command) {
  constexpr std::uint64_t kMost = 1'000'000;
  const Strings words = WordsOfLauncher(command);
  for (std::size_t i = 0; i < words.size(); ++i) {
    const Launcher* const launcher = LauncherAt(words, i);
    if (launcher == nullptr) continue;
    const auto number = ProcessesOf(*launcher, words, i + 1);
    if (!number || *number == 0 || *number > kMost) return std::nullopt;
    return static_cast<std::uint32_t>(*number);
  }
  return std::nullopt;
}

}  // namespace memoir
