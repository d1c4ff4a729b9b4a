#include "tools/cli/fit/fit_options.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <regex>
#include <set>
#include <string_view>
#include <utility>

#include "absl/strings/str_split.h"
#include "fmt/format.h"
#include "proto/memoir/byte_size.h"
#include "tools/cli/arguments/option_values.h"
#include "tools/cli/attach/record_options.h"
#include "tools/cli/brief/brief_answer.h"
#include "tools/cli/installed/install_tree.h"
#include "tools/cli/launch/launched_processes.h"
#include "tools/cli/terminal/nearest.h"
#include "tools/cli/terminal/printed_messages.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

// NOLINTNEXTLINE(bugprone-throwing-static-initialization): throws only if memory runs out, which ends any program
const VerbHelp kHelp = {
    .verb = "fit",
    .usage = "fit [OPTIONS] -- COMMAND...",
    .description =
        "Find out whether a program fits on a GPU that you do not have. COMMAND runs unchanged, with the real torch, "
        "on a SIMULATED GPU: its allocations are counted, its kernels do nothing. The answer is whether it fits, its "
        "peak and what used it, and what is left, or where memory ran out. A card's memory and context are from "
        "tables; docs/fit.md lists what is exact, what comes from tables and what cannot be known.\n"
        "With one card, COMMAND's streams and exit code are its own and the answer is on standard error. With --json "
        "the answer is on standard output, and COMMAND's output on standard error. --gpu all and --vary run COMMAND "
        "as often as needed, as many at once as there are cores, with its output in files and the answer on standard "
        "output.",
    .examples =
        "  memoir fit --gpu all -- python train.py\n"
        "  memoir fit --gpu l4 --vary BATCH=1:512 --png curve.png -- python train.py --batch {BATCH}\n",
};

bool ParseNumber(std::string_view text, std::uint64_t& number) {
  const std::optional<std::uint64_t> given = ParseDigits(text);
  number = given.value_or(0);
  return given && number <= kMaxNumber;
}

bool IsName(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
}

void AddOptions(CLI::App& app, FitOptions& options) {
  app.add_option("--gpu", options.gpu,
                 "card: h100, a100-80, l4, v100-32, rtx3090 ... (the list: lib/memoir/simulated_gpus.txt); several "
                 "with commas; or all, for the common ones [h100]");
  app.add_option("--mem", options.memory, "memory of the card, such as 24GiB, in place of the table's");
  AddNumber(app, "--devices", options.devices,
            "number of cards that each process sees [processes of the launcher in COMMAND, else 1]");
  AddNumber(app, "--rank", options.rank, "the rank of --world that runs; the others do not run [0]");
  AddNumber(app, "--world", options.world, "run as one of so many ranks, without a launcher: up to 4096");
  app.add_option("--sim-profiles", options.profiles, "file with further cards, as lib/memoir/simulated_gpus.txt");
  app.add_option("--profiles", options.profiles, "")->group("");  // former name of --sim-profiles
  app.add_option("--addresses", options.addresses,
                 "linux or wsl: the order in which the driver gives out addresses [as this host]");
  app.add_option("--vary", options.vary,
                 "NAME=A:B or NAME=A:B:STEP: find the largest value that fits; {NAME} in COMMAND is replaced by it");
  app.add_option("--png", options.png, "file for a picture of the peak against the value; with --vary");
  app.add_option("-o,--output", options.output,
                 "folder in which to keep the recording; with several runs a folder for each, with its output");
  app.add_flag("-q,--quiet", options.quiet, "only the verdict, a line for each card");
  AddJson(app, options.json, options.brief, "exact bytes of every run (docs/json.md)");
}

absl::Status Wrong(const std::string& text) { return absl::InvalidArgumentError(text); }

std::string InheritedValue(const char* variable) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? "" : value;
}

absl::Status CheckCard(const InstallTree& tree, const FitOptions& options, const std::string& key) {
  EnvironmentVariables variables = {{"MEMOIR_SIM_GPU", key},
                                    {"MEMOIR_SIM_PROFILES", options.profiles},
                                    {"MEMOIR_SIM_WORKSPACES", InheritedValue("MEMOIR_SIM_WORKSPACES")}};
  if (options.world) variables["MEMOIR_SIM_WORLD"] = std::to_string(*options.world);
  if (options.rank) variables["MEMOIR_SIM_RANK"] = std::to_string(*options.rank);
  const absl::Status status = CheckSimulation(tree, variables);
  if (status.ok()) return status;
  std::string text(status.message());
  // Renames options of `memoir run` in messages to the options of this verb.
  for (const auto& [run, fit] : {std::pair<std::string, std::string>{"--simulate: unknown", "--gpu: unknown"},
                                 {"--sim-world", "--world"},
                                 {"--sim-rank", "--rank"}}) {
    for (std::size_t at = text.find(run); at != std::string::npos; at = text.find(run))
      text.replace(at, run.size(), fit);
  }
  return absl::Status(status.code(), text);
}

absl::Status ResolveCards(FitOptions& options) {
  const InstallTree tree = FindInstallTree();
  const auto known = ReadSimulatedCards(tree, options.profiles);
  if (!known.ok()) return known.status();
  std::vector<std::string> keys;
  if (options.gpu != "all" || known->empty()) {
    keys = absl::StrSplit(options.gpu, ',');
  } else {
    for (const SimulatedCard& card : *known) {
      if (card.common) keys.push_back(card.key);
    }
  }
  for (const std::string& key : keys) {
    if (const absl::Status status = CheckCard(tree, options, key); !status.ok()) return status;
    const auto card = std::ranges::find(*known, key, &SimulatedCard::key);
    const bool is_new = std::ranges::find(options.cards, key, &SimulatedCard::key) == options.cards.end();
    if (card != known->end() && is_new) options.cards.push_back(*card);
  }
  return absl::OkStatus();
}

absl::Status ResolveMemory(FitOptions& options) {
  if (options.memory.empty()) return absl::OkStatus();
  constexpr std::uint64_t kLeast = 1ull << 30, kMost = 4096ull << 30;
  const auto bytes = ParseSize(options.memory);
  if (!bytes || *bytes < kLeast || *bytes > kMost)
    return Wrong("--mem " + options.memory + ": expected a size from 1GiB to 4TiB, such as 24GiB");
  for (SimulatedCard& card : options.cards) card.memory = card.memory_most = *bytes;
  return absl::OkStatus();
}

absl::Status CheckAddresses(FitOptions& options) {
  if (options.addresses.empty() || options.addresses == "linux" || options.addresses == "wsl") return absl::OkStatus();
  return Wrong("--addresses " + options.addresses + ": expected linux or wsl");
}

// Checks that the process has enough addresses. Each byte of the simulated card's memory needs an address, and with too
// few addresses the program would find no GPU.
absl::Status ResolveAddressSpace(FitOptions& options) {
  const std::uint64_t limit = AddressSpaceLimit();
  const std::uint64_t devices = options.devices.value_or(1);
  for (const SimulatedCard& card : options.cards) {
    if (card.memory <= limit / devices) continue;
    return absl::FailedPreconditionError(fmt::format(
        "ulimit -v allows {} of addresses, fewer than {} simulated {} takes ({} for its memory, and what the program "
        "needs itself); raise it, or simulate a smaller card (--gpu, --mem)",
        FormatBytes(limit), devices, card.key, FormatBytes(card.memory * devices)));
  }
  return absl::OkStatus();
}

// Returns the name of a placeholder whose value is missing: "BATCH" for "{BATCH}". "" if there is no placeholder. Only
// names in capitals count, because other braces may belong to the program (JSON, templates).
std::string PlaceholderIn(const std::vector<std::string>& command) {
  static const std::regex kPlaceholder(R"(\{([A-Z][A-Z0-9_]*)\})");
  std::smatch match;
  for (const std::string& word : command) {
    if (std::regex_search(word, match, kPlaceholder)) return match[1];
  }
  return "";
}

// Tests that the file of --png can be written. Called before anything runs, so that a wrong path does not waste the
// runs.
absl::Status ResolvePng(FitOptions& options) {
  if (options.png.empty()) return absl::OkStatus();
  if (options.vary.empty()) return Wrong("--png draws a curve: add --vary NAME=A:B");
  const bool is_new = access(options.png.c_str(), F_OK) != 0;
  const int file = open(options.png.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) {
    return absl::FailedPreconditionError(
        fmt::format("cannot write {}: {}; choose another file with --png FILE", options.png, std::strerror(errno)));
  }
  close(file);
  if (is_new) unlink(options.png.c_str());
  return absl::OkStatus();
}

absl::Status ResolveVariation(FitOptions& options) {
  const std::string placeholder = PlaceholderIn(options.command);
  if (options.vary.empty() && placeholder.empty()) return absl::OkStatus();
  if (options.vary.empty()) {
    return Wrong(fmt::format(
        "COMMAND holds {{{0}}}: which values does it stand for? add --vary {0}=A:B, such as {0}=1:512", placeholder));
  }
  const auto variation = ParseVariation(options.vary);
  if (!variation.ok()) return variation.status();
  options.variation = *variation;
  if (options.cards.size() != 1) return Wrong("--vary looks for the largest value on one card; name it with --gpu");
  if (WithValue(options.command, *variation, 0) != options.command) return absl::OkStatus();
  return Wrong(fmt::format("--vary {}: COMMAND holds no {{{}}}, so that every run would be the same", options.vary,
                           variation->name));
}

absl::Status Resolve(FitOptions& options) {
  if (options.command.empty()) return Wrong("no command to run: memoir fit [OPTIONS] -- COMMAND...");
  if (!options.devices && !options.world) options.devices = LaunchedProcesses(options.command);
  if (options.devices && (*options.devices < 1 || *options.devices > kMostSimulatedDevices))
    return Wrong(fmt::format("--devices: expected a number from 1 to {}", kMostSimulatedDevices));
  for (const auto resolve :
       {&ResolveCards, &ResolveMemory, &CheckAddresses, &ResolveAddressSpace, &ResolveVariation, &ResolvePng}) {
    if (absl::Status status = resolve(options); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

std::uint64_t AddressSpaceLimit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
    return std::numeric_limits<std::uint64_t>::max();
  return limit.rlim_cur;
}

absl::StatusOr<Variation> ParseVariation(const std::string& text) {
  const absl::Status bad = absl::InvalidArgumentError(
      "--vary " + text + ": expected NAME=A:B or NAME=A:B:STEP with whole numbers, A at most B, such as BATCH=1:512");
  const std::size_t equals = text.find('=');
  const std::size_t colon = text.find(':');
  if (equals == std::string::npos || colon == std::string::npos || colon < equals) return bad;
  const std::size_t second = std::min(text.find(':', colon + 1), text.size());
  Variation variation;
  variation.name = text.substr(0, equals);
  const std::string_view all = text;
  if (!IsName(variation.name) || !ParseNumber(all.substr(equals + 1, colon - equals - 1), variation.first)) return bad;
  if (!ParseNumber(all.substr(colon + 1, second - colon - 1), variation.last)) return bad;
  if (second < text.size() && !ParseNumber(all.substr(second + 1), variation.step)) return bad;
  if (variation.step == 0 || variation.first > variation.last) return bad;
  return variation;
}

std::vector<std::string> WithValue(const std::vector<std::string>& command, const Variation& variation,
                                   std::uint64_t value) {
  const std::string placeholder = "{" + variation.name + "}", text = std::to_string(value);
  std::vector<std::string> replaced = command;
  for (std::string& word : replaced) {
    for (std::size_t at = word.find(placeholder); at != std::string::npos;
         at = word.find(placeholder, at + text.size()))
      word.replace(at, placeholder.size(), text);
  }
  return replaced;
}

std::optional<int> ParseFitOptions(const std::vector<std::string>& arguments, FitOptions& options) {
  SplitArguments split = SplitAtCommand(arguments, {"-q", "--quiet", "--json", "--brief", "-h", "--help"});
  const auto app = MakeArguments(kHelp);
  AddOptions(*app, options);
  if (const auto code = ParseArguments(*app, "fit", split.options)) return code;
  options.command = std::move(split.command);
  if (options.profiles.empty()) options.profiles = InheritedValue("MEMOIR_SIM_PROFILES");
  const absl::Status status = Resolve(options);
  if (status.ok()) return std::nullopt;
  if (absl::IsInvalidArgument(status)) return FailUsage("fit", std::string(status.message()));
  return Fail(status);
}

}  // namespace memoir
