#include "tools/cli/attach/simulated_world.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "fmt/format.h"

namespace memoir {
namespace {

using EnvironmentVariables = std::map<std::string, std::string>;

constexpr int kLargestWorld = 4096;
constexpr int kUsualDevices = 8;  // usual number of devices of one machine

std::string Get(const EnvironmentVariables& variables, const std::string& name) {
  const auto found = variables.find(name);
  return found == variables.end() ? "" : found->second;
}

std::optional<int> Number(std::string_view text) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// Returns the number of ranks on a machine: one for each of `devices`, or the whole world if it is smaller. Without
// `devices`, returns a divisor of the world's size, at most kUsualDevices, so that all machines have equally many
// ranks.
int RanksOfMachine(int world, const std::optional<int>& devices) {
  if (devices) return std::min(world, *devices);
  int ranks = std::min(world, kUsualDevices);
  while (world % ranks != 0) --ranks;
  return ranks;
}

}  // namespace

absl::Status CheckWorld(const EnvironmentVariables& variables) {
  const std::string world = Get(variables, "MEMOIR_SIM_WORLD"), rank = Get(variables, "MEMOIR_SIM_RANK");
  if (world.empty()) {
    if (rank.empty()) return absl::OkStatus();
    return absl::InvalidArgumentError(fmt::format("--sim-rank={}: of which world? add --sim-world N", rank));
  }
  const auto ranks = Number(world);
  if (!ranks || *ranks < 1 || *ranks > kLargestWorld) {
    return absl::InvalidArgumentError(
        fmt::format("--sim-world={}: expected a number of ranks from 1 to {}", world, kLargestWorld));
  }
  const auto own = Number(rank.empty() ? "0" : rank);
  if (!own || *own < 0 || *own >= *ranks) {
    return absl::InvalidArgumentError(
        fmt::format("--sim-rank={}: a world of {} has the ranks 0 to {}", rank, *ranks, *ranks - 1));
  }
  return absl::OkStatus();
}

EnvironmentVariables WorldVariables(const EnvironmentVariables& variables) {
  const auto world = Number(Get(variables, "MEMOIR_SIM_WORLD"));
  if (!world) return {};
  const int rank = Number(Get(variables, "MEMOIR_SIM_RANK")).value_or(0);
  const int local = RanksOfMachine(*world, Number(Get(variables, "MEMOIR_SIM_DEVICES")));
  const int machines = (*world + local - 1) / local;
  const auto text = [](int number) { return std::to_string(number); };
  return {
      {"MEMOIR_SIM_DEVICES", text(local)},
      {"MEMOIR_SIM_RANK", text(rank)},
      {"RANK", text(rank)},
      {"WORLD_SIZE", text(*world)},
      {"LOCAL_RANK", text(rank % local)},
      {"LOCAL_WORLD_SIZE", text(local)},
      {"GROUP_RANK", text(rank / local)},
      {"GROUP_WORLD_SIZE", text(machines)},
      {"ROLE_NAME", "default"},
      {"ROLE_RANK", text(rank)},
      {"ROLE_WORLD_SIZE", text(*world)},
      {"MASTER_ADDR", "127.0.0.1"},
      {"MASTER_PORT", "29500"},
      {"TORCHELASTIC_RUN_ID", "memoir-simulated"},
      {"TORCHELASTIC_RESTART_COUNT", "0"},
      {"TORCHELASTIC_MAX_RESTARTS", "0"},
  };
}

}  // namespace memoir
