#include "simcuda/configuration/configuration.h"

#include <fcntl.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <optional>

#include "proto/memoir/byte_size.h"
#include "simcuda/configuration/built_in_tables.h"
#include "simcuda/process/simulation_message.h"

namespace memoir::simcuda {
namespace {

constexpr std::size_t kLargestFile = 1 << 20;

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// Reads a file. Returns "" or the reason why it could not be read.
std::string ReadFile(const std::string& path, std::string& text) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::strerror(errno);
  char buffer[4096];
  ssize_t got = 0;
  while ((got = read(file, buffer, sizeof buffer)) > 0 && text.size() <= kLargestFile)
    text.append(buffer, static_cast<std::size_t>(got));
  const int error = got < 0 ? errno : 0;
  close(file);
  if (error != 0) return std::strerror(error);
  return text.size() > kLargestFile ? "larger than 1 MiB: not a file of cards or formulas" : "";
}

std::string AddUserProfiles(const std::string& path, std::vector<CardProfile>& profiles) {
  if (path.empty()) return "";
  std::string text;
  std::string error = ReadFile(path, text);
  if (error.empty()) error = ParseProfiles(text, profiles);
  return error.empty() ? "" : "MEMOIR_SIM_PROFILES=" + path + ": " + error;
}

std::string ChooseWorkspaces(const std::string& path, Workspaces& workspaces) {
  std::string error = workspaces.Parse(BuiltInWorkspaces());
  if (path.empty() || !error.empty()) return error;
  std::string text;
  error = ReadFile(path, text);
  if (error.empty()) error = workspaces.Parse(text);
  return error.empty() ? "" : "MEMOIR_SIM_WORKSPACES=" + path + ": " + error;
}

std::string Keys(const std::vector<CardProfile>& profiles) {
  std::string text;
  for (const CardProfile& profile : profiles) text += (text.empty() ? "" : ", ") + profile.key;
  return text;
}

std::string ChooseProfile(const std::string& key, const std::vector<CardProfile>& profiles, CardProfile& chosen) {
  const auto found = std::ranges::find(profiles, key.empty() ? "h100" : key, &CardProfile::key);
  if (found == profiles.end())
    return "unknown card " + key + "; known are " + Keys(profiles) + " (others: MEMOIR_SIM_PROFILES)";
  chosen = *found;
  return "";
}

std::string ChooseMemory(const std::string& text, CardProfile& profile) {
  if (!text.empty()) profile.memory_most = 0;
  const std::uint64_t memory = text.empty() ? profile.memory : ParseSize(text).value_or(0);
  const std::uint64_t least = LeastMemory(profile);
  if (memory < least || memory > kMostMemory) {
    return "MEMOIR_SIM_MEMORY=" + text + ": expected a size from " + ReadableBytes(least) +
           " (what the context takes, and a block) to " + ReadableBytes(kMostMemory);
  }
  profile.memory = memory;
  return "";
}

// Parses a whole number within the limits. An empty `text` leaves `value` unchanged. Returns "" or an error message.
std::string ChooseNumber(const char* variable, const std::string& text, int least, int most, int& value) {
  if (text.empty()) return "";
  int number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < least || number > most) {
    return std::string(variable) + "=" + text + ": expected a number from " + std::to_string(least) + " to " +
           std::to_string(most);
  }
  value = number;
  return "";
}

std::string ChooseWorld(const ConfigurationRequest& request, Configuration& result) {
  if (request.world.empty() && !request.rank.empty()) return "MEMOIR_SIM_RANK is set, but not MEMOIR_SIM_WORLD";
  std::string error = ChooseNumber("MEMOIR_SIM_WORLD", request.world, 1, kLargestWorld, result.world);
  if (error.empty()) error = ChooseNumber("MEMOIR_SIM_RANK", request.rank, 0, result.world - 1, result.rank);
  if (error.empty())
    error = ChooseNumber("MEMOIR_SIM_TIMEOUT", request.timeout, 1, kLongestPatience, result.patience_seconds);
  return error;
}

std::string ChooseSize(const char* variable, const std::string& text, std::uint64_t most, std::uint64_t& bytes) {
  if (text.empty()) return "";
  const std::optional<std::uint64_t> given = ParseSize(text);
  bytes = given.value_or(0);
  if (given && bytes <= most) return "";
  return std::string(variable) + "=" + text + ": expected a size of at most " + ReadableBytes(most);
}

std::string ChooseSizes(const ConfigurationRequest& request, Configuration& result) {
  const std::uint64_t left = result.profile.memory - LeastMemory(result.profile);
  std::string error = ChooseSize("MEMOIR_SIM_OTHERS", request.others, left, result.others);
  if (error.empty()) error = ChooseSize("MEMOIR_SIM_PINNED", request.pinned, kMostMemory, result.pinned);
  if (error.empty()) error = ChooseSize("MEMOIR_SIM_HANDLES", request.handles, kMostMemory, result.handle);
  return error;
}

std::string ChooseUnknown(const std::string& text, bool& takes_most) {
  takes_most = text == "most";
  if (takes_most || text.empty() || text == "least") return "";
  return "MEMOIR_SIM_UNKNOWN=" + text + ": expected least or most";
}

// The release name of WSL's kernel contains "microsoft" or "Microsoft".
bool IsWsl() {
  utsname system{};
  return uname(&system) == 0 && std::strstr(system.release, "icrosoft") != nullptr;
}

std::string ChooseAddresses(const std::string& text, AddressOrder& order) {
  if (!text.empty() && text != "linux" && text != "wsl")
    return "MEMOIR_SIM_ADDRESSES=" + text + ": expected linux or wsl";
  order = text == "wsl" || (text.empty() && IsWsl()) ? AddressOrder::kWsl : AddressOrder::kLinux;
  return "";
}

std::string ChooseLate(const std::string& text, std::uint64_t& late) {
  late = kDefaultLate;
  if (text.empty()) return "";
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), late);
  if (error == std::errc{} && end == text.data() + text.size() && late <= kMostLate) return "";
  return "MEMOIR_SIM_LATE=" + text + ": expected a number from 0 to " + std::to_string(kMostLate);
}

}  // namespace

Configuration Configure(const ConfigurationRequest& request) {
  Configuration result;
  std::vector<CardProfile> profiles;
  result.error = ParseProfiles(BuiltInProfiles(), profiles);
  if (result.error.empty()) result.error = AddUserProfiles(request.profiles, profiles);
  if (result.error.empty()) result.error = ChooseWorkspaces(request.workspaces, result.workspaces);
  if (result.error.empty()) result.error = ChooseProfile(request.gpu, profiles, result.profile);
  if (result.error.empty()) result.error = ChooseMemory(request.memory, result.profile);
  if (result.error.empty())
    result.error = ChooseNumber("MEMOIR_SIM_DEVICES", request.devices, 1, kMostDevices, result.devices);
  if (result.error.empty()) result.error = ChooseWorld(request, result);
  if (result.error.empty()) result.error = ChooseSizes(request, result);
  if (result.error.empty()) result.error = ChooseUnknown(request.unknown, result.takes_most);
  if (result.error.empty()) result.error = ChooseLate(request.late, result.late);
  if (result.error.empty()) result.error = ChooseAddresses(request.addresses, result.addresses);
  if (!result.error.empty()) {
    result.devices = 0;
    return result;
  }
  result.description = result.profile.name + " (" + result.profile.key + ")";
  if (!request.memory.empty()) result.description += " with " + ReadableBytes(result.profile.memory);
  if (result.world > 0) result.description += ", alone of " + std::to_string(result.world) + " ranks";
  return result;
}

ConfigurationRequest RequestOfEnvironment() {
  return {Variable("MEMOIR_SIM_GPU"),        Variable("MEMOIR_SIM_MEMORY"),  Variable("MEMOIR_SIM_DEVICES"),
          Variable("MEMOIR_SIM_PROFILES"),   Variable("MEMOIR_SIM_RANK"),    Variable("MEMOIR_SIM_WORLD"),
          Variable("MEMOIR_SIM_TIMEOUT"),    Variable("MEMOIR_SIM_UNKNOWN"), Variable("MEMOIR_SIM_LATE"),
          Variable("MEMOIR_SIM_WORKSPACES"), Variable("MEMOIR_SIM_OTHERS"),  Variable("MEMOIR_SIM_PINNED"),
          Variable("MEMOIR_SIM_HANDLES"),    Variable("MEMOIR_SIM_ADDRESSES")};
}

}  // namespace memoir::simcuda
