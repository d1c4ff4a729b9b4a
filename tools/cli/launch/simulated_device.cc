#include "tools/cli/launch/simulated_device.h"

#include <algorithm>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "simcuda/user_tables/card_profile.h"
#include "simcuda/user_tables/limits.h"
#include "simcuda/user_tables/workspaces.h"
#include "tools/cli/arguments/option_values.h"
#include "tools/cli/attach/simulated_world.h"
#include "tools/cli/terminal/nearest.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

using simcuda::CardProfile;

// Returns the text of a file. nullopt if it cannot be read or is larger than the device accepts.
std::optional<std::string> ReadTable(const std::filesystem::path& file) {
  constexpr std::size_t kLargest = std::size_t{1} << 20;  // as in simcuda/configuration/configuration.cc
  std::ifstream in(file, std::ios::binary);
  std::string text(kLargest + 1, '\0');
  in.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (!in.is_open() || in.bad() || !in.eof()) return std::nullopt;
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

absl::Status CannotRead(std::string_view source, const std::string& file) {
  return absl::InvalidArgumentError(
      fmt::format("{}: cannot read {}; check path and permissions, at most 1 MiB is read", source, file));
}

// `wrong`: the error with its line, "line 3: ...". `example`: a file that describes the form.
absl::Status FaultyProfileError(std::string_view source, const std::string& file, const std::string& wrong,
                                const std::filesystem::path& example) {
  return absl::InvalidArgumentError(
      fmt::format("{}: {}: {}; correct it: {} describes its form", source, file, wrong, example.string()));
}

static_assert(kMostSimulatedDevices == simcuda::kMostDevices);

SimulatedCard CardOf(const CardProfile& profile, bool common) {
  return {profile.key, profile.name, profile.memory, profile.memory_most, simcuda::LeastMemory(profile), common};
}

// Checks the file of workspaces, which is given only by its variable and has no option.
absl::Status CheckWorkspaces(const InstallTree& tree, const std::string& file) {
  if (file.empty()) return absl::OkStatus();
  const std::optional<std::string> text = ReadTable(file);
  if (!text) return CannotRead("MEMOIR_SIM_WORKSPACES", file);
  const std::string wrong = simcuda::Workspaces().Parse(*text);
  if (wrong.empty()) return absl::OkStatus();
  return FaultyProfileError("MEMOIR_SIM_WORKSPACES", file, wrong,
                            tree.simulated_cards.parent_path() / "simulated_workspaces.txt");
}

std::string Get(const std::map<std::string, std::string>& variables, const std::string& name) {
  const auto found = variables.find(name);
  return found == variables.end() ? "" : found->second;
}

// The bounds of an option's value. The simulated device checks them too, but only after the program has started.
struct Limit {
  const char* variable;
  const char* option;  // as users write it
  std::uint64_t least, most;
  std::string (*format)(std::uint64_t);
  std::string why_least;
};

absl::Status CheckLimit(const Limit& limit, const std::string& text) {
  const std::optional<std::uint64_t> value = ParseDigits(text);
  if (!value || (*value >= limit.least && *value <= limit.most)) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("{}={}: expected {}{} to {}", limit.option, limit.format(*value),
                                                limit.format(limit.least), limit.why_least, limit.format(limit.most)));
}

absl::Status CheckLimits(const SimulatedCard& card, const std::map<std::string, std::string>& variables) {
  const auto bytes = [](std::uint64_t value) { return FormatBytes(value); };
  const auto count = [](std::uint64_t value) { return std::to_string(value); };
  const std::uint64_t memory = ParseDigits(Get(variables, "MEMOIR_SIM_MEMORY")).value_or(card.memory);
  const Limit limits[] = {
      {"MEMOIR_SIM_MEMORY", "--sim-memory", card.memory_least, simcuda::kMostMemory, bytes,
       fmt::format(" (the context of {} and one block)", card.key)},
      {"MEMOIR_SIM_DEVICES", "--sim-devices", 1, kMostSimulatedDevices, count, ""},
      {"MEMOIR_SIM_TIMEOUT", "MEMOIR_SIM_TIMEOUT", 1, simcuda::kLongestPatience, count, ""},
      {"MEMOIR_SIM_OTHERS", "MEMOIR_SIM_OTHERS", 0, memory - std::min(memory, card.memory_least), bytes, ""},
      {"MEMOIR_SIM_PINNED", "MEMOIR_SIM_PINNED", 0, simcuda::kMostMemory, bytes, ""},
      {"MEMOIR_SIM_HANDLES", "MEMOIR_SIM_HANDLES", 0, simcuda::kMostMemory, bytes, ""},
  };
  for (const Limit& limit : limits) {
    if (const absl::Status status = CheckLimit(limit, Get(variables, limit.variable)); !status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::vector<SimulatedCard>> ReadSimulatedCards(const InstallTree& tree, const std::string& own_file) {
  std::vector<CardProfile> ours;
  if (const std::string wrong = simcuda::ParseProfiles(ReadTable(tree.simulated_cards).value_or(""), ours);
      !wrong.empty()) {
    return absl::FailedPreconditionError(
        fmt::format("{}: {}; install Memoir again", tree.simulated_cards.string(), wrong));
  }
  std::vector<CardProfile> all = ours;
  if (!own_file.empty()) {
    const std::optional<std::string> text = ReadTable(own_file);
    if (!text) return CannotRead("--sim-profiles", own_file);
    const std::string wrong = simcuda::ParseProfiles(*text, all);
    if (!wrong.empty()) return FaultyProfileError("--sim-profiles", own_file, wrong, tree.simulated_cards);
  }
  std::vector<SimulatedCard> cards;
  for (const CardProfile& profile : all) {
    const bool own = std::ranges::find(ours, profile) == ours.end();
    cards.push_back(CardOf(profile, own || profile.common));
  }
  return cards;
}

absl::Status CheckSimulation(const InstallTree& tree, const std::map<std::string, std::string>& variables) {
  const std::string card = Get(variables, "MEMOIR_SIM_GPU");
  if (card.empty()) {
    for (const char* needs :
         {"MEMOIR_SIM_MEMORY", "MEMOIR_SIM_DEVICES", "MEMOIR_SIM_PROFILES", "MEMOIR_SIM_WORLD", "MEMOIR_SIM_RANK",
          "MEMOIR_SIM_UNKNOWN", "MEMOIR_SIM_LATE", "MEMOIR_SIM_VALUES", "MEMOIR_SIM_ADDRESSES"}) {
      if (!Get(variables, needs).empty())
        return absl::InvalidArgumentError(fmt::format("{} is set, but no simulated GPU: add --simulate CARD", needs));
    }
    return absl::OkStatus();
  }
  if (const absl::Status status = CheckWorld(variables); !status.ok()) return status;
  std::error_code error;
  if (!std::filesystem::exists(tree.simulated_device, error)) {
    return absl::FailedPreconditionError(fmt::format(
        "--simulate: this installation lacks {}; build Memoir beside a torch with CUDA and the headers that "
        "setup/requirements.txt names",
        tree.simulated_device.string()));
  }
  if (tree.simulated_device.string().find_first_of(" :") != std::string::npos) {
    return absl::FailedPreconditionError(fmt::format(
        "--simulate: the path {} holds a space or colon, which LD_PRELOAD cannot name; move the installation",
        tree.simulated_device.string()));
  }
  if (const absl::Status status = CheckWorkspaces(tree, Get(variables, "MEMOIR_SIM_WORKSPACES")); !status.ok())
    return status;
  const auto cards = ReadSimulatedCards(tree, Get(variables, "MEMOIR_SIM_PROFILES"));
  if (!cards.ok()) return cards.status();
  const auto found = std::ranges::find(*cards, card, &SimulatedCard::key);
  if (found != cards->end()) return CheckLimits(*found, variables);
  std::vector<std::string> keys;
  for (const SimulatedCard& known : *cards) keys.push_back(known.key);
  return absl::InvalidArgumentError(
      fmt::format("--simulate: unknown card {}{}; known are {}", card, DidYouMean(card, keys), fmt::join(keys, ", ")));
}

void AddSimulation(const InstallTree& tree, Attachment& attachment) {
  std::string& preload = attachment.prepended["LD_PRELOAD"];
  preload += (preload.empty() ? "" : ":") + tree.simulated_device.string();
  std::error_code error;
  if (std::filesystem::exists(tree.simulated_driver, error))
    attachment.set["TRITON_LIBCUDA_PATH"] = tree.simulated_driver.parent_path().string();
}

}  // namespace memoir
