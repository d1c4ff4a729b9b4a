#include "tracker/session/process/rank.h"

#include <charconv>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace memoir {
namespace {

// A launcher, and its environment variables. If the variable `unless` is set, the others are ignored
// (proto/memoir/launchers.def).
struct Launcher {
  const char* name;
  const char* rank;
  const char* world_size;
  const char* unless;
};
constexpr Launcher kLaunchers[] = {
#define MEMOIR_LAUNCHER(name, rank, world_size, unless) {name, rank, world_size, unless},
#include "proto/memoir/launchers.def"
#undef MEMOIR_LAUNCHER
};

bool IsSet(const char* variable) {
  const char* text = std::getenv(variable);
  return text != nullptr && *text != '\0';
}

std::optional<std::uint32_t> Number(const char* variable) {
  const char* text = *variable == '\0' ? nullptr : std::getenv(variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  std::uint32_t value = 0;
  const char* end = text + std::strlen(text);
  const auto [rest, failed] = std::from_chars(text, end, value);
  if (failed != std::errc{} || rest != end) return std::nullopt;
  return value;
}

// The source of a rank that the user sets, with MEMOIR_RANK or in memoir.start().
constexpr const char* kUser = kLaunchers[0].name;

bool Counts(const Launcher& launcher) { return *launcher.unless == '\0' || !IsSet(launcher.unless); }

// The rank of this process according to one source.
struct Claim {
  std::string source;
  std::string words;  // the claim as text: "RANK=1"
  std::uint32_t rank = 0;
  std::uint32_t world_size = 0;
};

std::string SourceOf(const Launcher& launcher) {
  const bool variables_of_ray = std::strcmp(launcher.rank, "RANK") == 0 && IsSet("RAY_JOB_ID");
  return variables_of_ray && !IsSet("TORCHELASTIC_RUN_ID") ? "Ray" : launcher.name;
}

// Returns the claims of environment variables, in the order of precedence.
std::vector<Claim> ClaimsOfEnvironment() {
  std::vector<Claim> claims;
  for (const Launcher& launcher : kLaunchers) {
    const std::optional<std::uint32_t> rank = Number(launcher.rank);
    if (!rank || !Counts(launcher)) continue;
    claims.push_back({SourceOf(launcher), std::string(launcher.rank) + "=" + std::to_string(*rank), *rank,
                      Number(launcher.world_size).value_or(0)});
  }
  return claims;
}

// Returns the claims of all sources, in the order of precedence.
std::vector<Claim> Claims(std::optional<std::uint32_t> given, std::optional<ProcessGroup> group) {
  std::vector<Claim> claims = ClaimsOfEnvironment();
  std::string words_of_user = given ? "rank=" + std::to_string(*given) : "";
  if (!claims.empty() && claims.front().source == kUser) {
    if (!given) given = claims.front().rank;
    if (given == claims.front().rank) words_of_user = claims.front().words;
    claims.erase(claims.begin());
  }
  if (group) {
    const bool part_of_job = !claims.empty() && claims.front().world_size > group->size;
    const Claim claim{"torch.distributed", "torch.distributed's rank " + std::to_string(group->rank), group->rank,
                      group->size};
    if (!part_of_job) claims.insert(claims.begin(), claim);
  }
  if (given) {
    const std::uint32_t world_size = claims.empty() ? 0 : claims.front().world_size;
    claims.insert(claims.begin(), {kUser, words_of_user, *given, world_size});
  }
  return claims;
}

// Returns true if `a` and `b` give different ranks for the same set of processes. Two claims with different world sizes
// come from nested launchers, which number different sets of processes.
bool Contradict(const Claim& a, const Claim& b) {
  return a.rank != b.rank && (a.world_size == b.world_size || a.world_size == 0 || b.world_size == 0);
}

// Describes a contradiction between the claims, or a rank that is not less than the number of ranks. "" if there is
// neither. A rank that the user sets takes precedence, so no other rank contradicts it.
std::string Conflict(const std::vector<Claim>& claims) {
  const Claim& taken = claims.front();
  const bool by_user = taken.source == kUser;
  const std::string recorded = "recorded as rank " + std::to_string(taken.rank);
  for (const Claim& other : claims) {
    if (by_user || !Contradict(taken, other)) continue;
    return taken.words + " (" + taken.source + ") and " + other.words + " (" + other.source +
           ") contradict each other: " + recorded + "; MEMOIR_RANK=N decides";
  }
  if (taken.world_size == 0 || taken.rank < taken.world_size) return "";
  const std::string size = std::to_string(taken.world_size);
  if (by_user) return taken.words + " is no rank of " + size + ": " + recorded + "; name one below " + size;
  return taken.words + " (" + taken.source + ") is no rank of " + size + ": " + recorded + "; MEMOIR_RANK=N decides";
}

// Returns the text of an environment variable, for a message of one line. The variable may have any length and contain
// any characters.
std::string Shown(const char* value) {
  constexpr std::size_t kMost = 32;
  std::string shown(value, strnlen(value, kMost));
  for (char& c : shown) {
    if (static_cast<unsigned char>(c) < ' ' || c == '\x7f') c = '?';
  }
  return shown.size() == kMost ? shown + "..." : shown;
}

std::string Unreadable(const Launcher& launcher, const char* variable) {
  if (*variable == '\0' || !IsSet(variable) || Number(variable)) return "";
  return std::string(variable) + "=" + Shown(std::getenv(variable)) + " (" + SourceOf(launcher) + ") is not a number";
}

// Describes a launcher's variable that does not contain a number. Empty if there is no such variable, or if the user
// sets the rank. The text does not depend on the chosen rank. So it stays the same, and is not printed again, when the
// rank is determined again.
std::string Unreadables(bool by_user) {
  for (const Launcher& launcher : kLaunchers) {
    if (by_user || launcher.name == kUser || !Counts(launcher)) continue;
    if (const std::string what = Unreadable(launcher, launcher.rank); !what.empty())
      return what + ": ignored; MEMOIR_RANK=N sets the rank";
    if (const std::string what = Unreadable(launcher, launcher.world_size); !what.empty())
      return what + ": ignored; set it to the number of ranks";
  }
  return "";
}

}  // namespace

Rank FindRank(std::optional<std::uint32_t> given, std::optional<ProcessGroup> group) {
  Rank found;
  found.restart = Number("TORCHELASTIC_RESTART_COUNT").value_or(0);
  const std::vector<Claim> claims = Claims(given, group);
  found.conflict = Unreadables(!claims.empty() && claims.front().source == kUser);
  if (claims.empty()) return found;
  found.rank = claims.front().rank;
  found.world_size = claims.front().world_size;
  found.source = claims.front().source;
  if (const std::string conflict = Conflict(claims); !conflict.empty()) found.conflict = conflict;
  return found;
}

bool IsReportingProcess() {
  const std::vector<Claim> claims = ClaimsOfEnvironment();
  return claims.empty() || claims.front().rank == 0;
}

bool HasLauncherRank() {
  const std::vector<Claim> claims = ClaimsOfEnvironment();
  return !claims.empty() && claims.back().source != kUser;
}

}  // namespace memoir
