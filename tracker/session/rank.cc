#include "tracker/session/rank.h"

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace memoir {
namespace {

struct Launcher {
  const char* name;
  const char* rank;
  const char* world_size;
};
constexpr Launcher kLaunchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE"},
    {"OpenMPI", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"},
    {"PMI", "PMI_RANK", "PMI_SIZE"},
    {"Slurm", "SLURM_PROCID", "SLURM_NTASKS"},
};

std::optional<std::uint32_t> Number(const char* variable) {
  const char* text = std::getenv(variable);
  if (text == nullptr || *text == '\0') return std::nullopt;
  std::uint32_t value = 0;
  const char* end = text + std::strlen(text);
  const auto [rest, failed] = std::from_chars(text, end, value);
  if (failed != std::errc{} || rest != end) return std::nullopt;
  return value;
}

}  // namespace

Rank FindRank(std::optional<std::uint32_t> given) {
  Rank found;
  for (const Launcher& launcher : kLaunchers) {
    const std::optional<std::uint32_t> rank = Number(launcher.rank);
    if (!rank) continue;
    found.rank = *rank;
    found.world_size = Number(launcher.world_size).value_or(0);
    found.source = launcher.name;
    break;
  }
  found.restart = Number("TORCHELASTIC_RESTART_COUNT").value_or(0);
  if (given) {
    found.rank = *given;
    found.source = "MEMOIR_RANK";
  }
  return found;
}

}  // namespace memoir
