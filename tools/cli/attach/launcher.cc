#include "tools/cli/attach/launcher.h"

#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <limits>
#include <optional>
#include <sstream>
#include <system_error>

#include "fmt/format.h"
#include "tools/cli/arguments/option_values.h"

namespace memoir {
namespace {

namespace fs = std::filesystem;

struct Launcher {
  const char* rank;    // the variable that contains the rank
  const char* unless;  // the entry is ignored if this variable is set
};
constexpr Launcher kLaunchers[] = {
// The first entry is MEMOIR_RANK, which the user sets.
#define MEMOIR_LAUNCHER(name, rank, world_size, unless) {rank, unless},
#include "proto/memoir/launchers.def"
#undef MEMOIR_LAUNCHER
};

struct Job {
  const char* name;
  const char* values[3];  // the variables that identify the job; "" for fewer variables
};
constexpr Job kJobs[] = {
#define MEMOIR_JOB(name, first, second, third) {name, {first, second, third}},
#include "proto/memoir/launchers.def"
#undef MEMOIR_JOB
};

std::string Value(const char* variable) {
  const char* value = *variable == '\0' ? nullptr : std::getenv(variable);
  return value == nullptr ? "" : value;
}

std::optional<std::uint32_t> Number(const std::string& text) {
  const std::optional<std::uint64_t> value = ParseDigits(text);
  if (!value || *value > std::numeric_limits<std::uint32_t>::max()) return std::nullopt;
  return static_cast<std::uint32_t>(*value);
}

// Returns the rank of this process from its environment. Ignores the entries of kLaunchers before number `first`.
std::optional<std::uint32_t> RankOf(std::size_t first) {
  for (std::size_t i = first; i < std::size(kLaunchers); ++i) {
    const auto rank = Number(Value(kLaunchers[i].rank));
    if (rank && Value(kLaunchers[i].unless).empty()) return rank;
  }
  return std::nullopt;
}

// Returns `text` as a part of a file name: at most 64 characters, with "_" in the place of special characters.
std::string Plain(std::string text) {
  constexpr std::size_t kLongest = 64;
  for (char& c : text) {
    const bool plain =
        (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.';
    if (!plain) c = '_';
  }
  return text.substr(0, kLongest);
}

std::string NameOf(const Job& job) {
  const std::string first = Value(job.values[0]), second = Value(job.values[1]), third = Value(job.values[2]);
  if (first.empty() || first == "none" || (*job.values[1] != '\0' && second.empty())) return "";
  std::string name = std::string(job.name) + "-" + Plain(first);
  if (!second.empty()) name += "." + Plain(second);
  if (!third.empty() && third != "0") name += "." + Plain(third);
  return name;
}

// Returns the time at which the parent process started. This time is the same for all ranks that the parent started.
std::optional<std::time_t> StartOfParent() {
  std::string line, word;
  std::getline(std::ifstream(fmt::format("/proc/{}/stat", getppid())), line);
  const std::size_t name_ends = line.rfind(')');
  if (name_ends == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_ends + 1));
  for (int field = 3; field < 22; ++field) fields >> word;
  long long ticks = 0, boot = 0;
  fields >> ticks;
  std::ifstream system("/proc/stat");
  while (system >> word && word != "btime") system.ignore(1 << 16, '\n');
  system >> boot;
  if (!fields || !system) return std::nullopt;
  return static_cast<std::time_t>(boot + ticks / sysconf(_SC_CLK_TCK));
}

std::string NamedForTime(std::time_t time) {
  std::tm local = {};
  localtime_r(&time, &local);
  char name[64];
  std::strftime(name, sizeof name, "memoir-%Y%m%d-%H%M%S", &local);
  return name;
}

std::string FolderOfJob() {
  const std::string name = NameOfLaunchersJob();
  return name.empty() ? NamedForTime(StartOfParent().value_or(std::time(nullptr))) : "memoir-" + name;
}

bool HoldsPartOf(const fs::path& folder, const std::string& rank) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    if (entry.path().filename().string().starts_with(rank)) return true;
  }
  return false;
}

std::string FirstFree(const std::string& name, const std::function<bool(const fs::path&)>& taken) {
  std::string path = name;
  for (int i = 2; taken(path) && i < 1000; ++i) path = fmt::format("{}-{}", name, i);
  return path;
}

}  // namespace

bool IsReportingProcess(const EnvironmentVariables& given) {
  const auto own = given.find(kLaunchers[0].rank);
  const auto rank = own == given.end() ? std::nullopt : Number(own->second);
  return (rank ? *rank : RankOf(0).value_or(0)) == 0;
}

bool HasRankOfLauncher() { return RankOf(1).has_value(); }

std::string NameOfLaunchersJob() {
  for (const Job& job : kJobs) {
    if (std::string name = NameOf(job); !name.empty()) return name;
  }
  return "";
}

std::string DefaultOutputFolder() {
  std::error_code error;
  if (!HasRankOfLauncher()) {
    return FirstFree(NamedForTime(std::time(nullptr)), [&](const fs::path& path) { return fs::exists(path, error); });
  }
  const std::uint32_t restart = Number(Value("TORCHELASTIC_RESTART_COUNT")).value_or(0);
  const std::string own = fmt::format("r{:05}.a{}.", RankOf(0).value_or(0), restart);
  return FirstFree(FolderOfJob(), [&](const fs::path& path) { return HoldsPartOf(path, own); });
}

}  // namespace memoir
