#include "tracker/session/process/default_output.h"

#include <dirent.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <fstream>
#include <string_view>

#include "interpose/system/process_identity.h"
#include "tracker/session/process/rank.h"

namespace memoir {
namespace {

// A kind of job, and the environment variables that identify a job of this kind (proto/memoir/launchers.def).
struct Job {
  const char* name;
  const char *first, *second, *third;
};
constexpr Job kJobs[] = {
#define MEMOIR_JOB(name, first, second, third) {name, first, second, third},
#include "proto/memoir/launchers.def"
#undef MEMOIR_JOB
};

std::string Value(const char* variable) {
  const char* value = *variable == '\0' ? nullptr : std::getenv(variable);
  return value == nullptr ? "" : value;
}

// Replaces characters that do not belong in a file name.
std::string Plain(const std::string& value) {
  static constexpr char kPlain[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.";
  std::string plain = value.substr(0, 64);
  for (char& c : plain) {
    if (std::strchr(kPlain, c) == nullptr) c = '_';
  }
  return plain;
}

// Returns the folder's name for this kind of job; "" if the job's environment variables are not set.
std::string NameOf(const Job& job) {
  const std::string first = Value(job.first), second = Value(job.second), third = Value(job.third);
  if (first.empty() || first == "none") return "";
  if (*job.second != '\0' && second.empty()) return "";
  std::string name = std::string("memoir-") + job.name + "-" + Plain(first);
  if (!second.empty()) name += "." + Plain(second);
  if (!third.empty() && third != "0") name += "." + Plain(third);
  return name;
}

// Returns the start time of the parent process; the current time if it is unknown.
std::time_t StartOfParent() {
  const std::uint64_t ticks = IdentityOf(static_cast<std::uint64_t>(getppid())).start_time;
  std::string line;
  long long boot = 0;
  std::ifstream system("/proc/stat");
  while (std::getline(system, line)) {
    if (line.starts_with("btime ")) boot = std::strtoll(line.c_str() + 6, nullptr, 10);
  }
  if (ticks == 0 || boot == 0) return std::time(nullptr);
  return static_cast<std::time_t>(boot + static_cast<long long>(ticks) / sysconf(_SC_CLK_TCK));
}

std::string NamedForTime(std::time_t time) {
  std::tm local{};
  localtime_r(&time, &local);
  char name[64];
  std::strftime(name, sizeof name, "memoir-%Y%m%d-%H%M%S", &local);
  return name;
}

std::string NameOfJob() {
  for (const Job& job : kJobs) {
    if (std::string name = NameOf(job); !name.empty()) return name;
  }
  return NamedForTime(StartOfParent());
}

bool HoldsPartOf(const std::string& folder, const std::string& rank) {
  DIR* const opened = opendir(folder.c_str());
  if (opened == nullptr) return false;
  bool holds = false;
  while (const dirent* entry = readdir(opened)) holds = holds || std::string_view(entry->d_name).starts_with(rank);
  closedir(opened);
  return holds;
}

}  // namespace

std::string DefaultOutput(std::optional<std::uint32_t> given_rank) {
  if (!HasLauncherRank()) return NamedForTime(std::time(nullptr));
  const Rank rank = FindRank(given_rank, std::nullopt);
  char own[32];
  std::snprintf(own, sizeof own, "r%05u.a%u.", rank.rank, rank.restart);
  const std::string name = NameOfJob();
  std::string path = name;
  for (int i = 2; HoldsPartOf(path, own) && i < 1000; ++i) path = name + "-" + std::to_string(i);
  return path;
}

}  // namespace memoir
