#include "tools/cli/launch/simulated_device.h"

#include <algorithm>
#include <fstream>
#include <system_error>

#include "fmt/format.h"
#include "tools/cli/attach/record_options.h"
#include "tools/cli/attach/simulated_world.h"
#include "tools/cli/terminal/nearest.h"

namespace memoir {
namespace {

constexpr std::size_t kLongestLine = 4096;

std::string Trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\r");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

// "memory = 81080MiB   # E", below a card's "[h100]".
void SetField(const std::vector<SimulatedCard>& cards, SimulatedCard& card, const std::string& line) {
  const std::size_t equals = line.find('=');
  if (equals == std::string::npos) return;
  const std::string field = Trimmed(line.substr(0, equals));
  const std::string value = Trimmed(line.substr(equals + 1, line.find('#') - equals - 1));
  if (field == "name") card.name = value;
  if (field == "memory") card.memory = ParseSize(value).value_or(0);
  if (field == "memory_most") card.memory_most = ParseSize(value).value_or(0);
  if (field == "common") card.common = value == "yes";
  if (field != "like") return;
  const auto other = std::ranges::find(cards, value, &SimulatedCard::key);
  if (other == cards.end()) return;
  card = {card.key, other->name, other->memory, other->memory_most, card.common};
}

// `own`: the user's, who means all of them.
void AddCards(const std::filesystem::path& file, bool own, std::vector<SimulatedCard>& cards) {
  std::ifstream in(file);
  bool below_a_card = false;
  for (std::string line; std::getline(in, line) && line.size() <= kLongestLine;) {
    const std::size_t end = line.find(']');
    if (line.starts_with('[') && end != std::string::npos) {
      const std::string key = line.substr(1, end - 1);
      std::erase_if(cards, [&](const SimulatedCard& card) { return card.key == key; });
      cards.push_back({key, key, 0, 0, own});
      below_a_card = true;
    } else if (below_a_card && !line.starts_with('#')) {
      SetField(cards, cards.back(), line);
    }
  }
}

std::string Get(const std::map<std::string, std::string>& variables, const std::string& name) {
  const auto found = variables.find(name);
  return found == variables.end() ? "" : found->second;
}

}  // namespace

std::vector<SimulatedCard> ReadSimulatedCards(const InstallTree& tree, const std::string& own_file) {
  std::vector<SimulatedCard> cards;
  AddCards(tree.simulated_cards, false, cards);
  if (!own_file.empty()) AddCards(own_file, true, cards);
  return cards;
}

std::vector<std::string> SimulatedCards(const InstallTree& tree, const std::string& own_file) {
  std::vector<std::string> keys;
  for (const SimulatedCard& card : ReadSimulatedCards(tree, own_file)) keys.push_back(card.key);
  return keys;
}

absl::Status CheckSimulation(const InstallTree& tree, const std::map<std::string, std::string>& variables) {
  const std::string card = Get(variables, "MEMOIR_SIM_GPU");
  if (card.empty()) {
    for (const char* needs : {"MEMOIR_SIM_MEMORY", "MEMOIR_SIM_DEVICES", "MEMOIR_SIM_PROFILES", "MEMOIR_SIM_WORLD",
                              "MEMOIR_SIM_RANK", "MEMOIR_SIM_UNKNOWN", "MEMOIR_SIM_LATE", "MEMOIR_SIM_VALUES",
                              "MEMOIR_SIM_ADDRESSES"}) {
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
  const std::string own_file = Get(variables, "MEMOIR_SIM_PROFILES");
  if (!own_file.empty() && !std::ifstream(own_file).good())
    return absl::InvalidArgumentError(
        fmt::format("--sim-profiles: cannot read {}; check path and permissions", own_file));
  const std::vector<std::string> cards = SimulatedCards(tree, own_file);
  if (std::ranges::find(cards, card) != cards.end()) return absl::OkStatus();
  std::string known;
  for (const std::string& name : cards) known += (known.empty() ? "" : ", ") + name;
  return absl::InvalidArgumentError(
      fmt::format("--simulate: unknown card {}{}; known are {}", card, DidYouMean(card, cards), known));
}

void AddSimulation(const InstallTree& tree, Attachment& attachment) {
  std::string& preload = attachment.prepended["LD_PRELOAD"];
  preload += (preload.empty() ? "" : ":") + tree.simulated_device.string();
  std::error_code error;
  if (std::filesystem::exists(tree.simulated_driver, error))
    attachment.set["TRITON_LIBCUDA_PATH"] = tree.simulated_driver.parent_path().string();
}

}  // namespace memoir
