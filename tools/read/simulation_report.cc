#include "tools/read/simulation_report.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <set>
#include <sstream>
#include <string_view>
#include <system_error>

namespace memoir {
namespace {

constexpr char kMagic[] = "MEMOIRS1";
constexpr std::size_t kMost = 1 << 20;  // bytes; a report has about 6,000

struct Header {
  char magic[8];
  std::uint64_t pid, words, devices;
};

std::string Contents(const std::filesystem::path& path) {
  std::string bytes(kMost, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(file.gcount()));
  return bytes;
}

// Sets a word to 0 if the file lacks it, because an older version of the simulated device wrote the file.
SimulatedDevice DeviceFrom(const char* at, std::uint64_t words, std::uint64_t ordinal) {
  SimulatedDevice device;
  device.ordinal = ordinal;
  std::uint64_t* const to[] = {
#define MEMOIR_SIM_WORD(name) &device.name,
#include "proto/memoir/simulation_report.def"
#undef MEMOIR_SIM_WORD
  };
  const std::uint64_t known = std::min<std::uint64_t>(words, std::size(to));
  for (std::uint64_t i = 0; i < known; ++i) std::memcpy(to[i], at + i * 8, 8);
  return device;
}

std::optional<SimulatedProcess> ProcessFrom(const std::string& bytes) {
  Header header = {};
  if (bytes.size() < sizeof header) return std::nullopt;
  std::memcpy(&header, bytes.data(), sizeof header);
  const std::uint64_t room = (bytes.size() - sizeof header) / 8;
  const bool ours = std::memcmp(header.magic, kMagic, 8) == 0;
  if (!ours || header.words == 0 || header.words > room || header.devices > room / header.words) return std::nullopt;
  SimulatedProcess process{header.pid, {}};
  for (std::uint64_t i = 0; i < header.devices; ++i) {
    const SimulatedDevice device = DeviceFrom(bytes.data() + sizeof header + i * header.words * 8, header.words, i);
    if (device.total > 0) process.devices.push_back(device);
  }
  return process;
}

}  // namespace

std::vector<SimulatedProcess> ReadSimulationReports(const std::string& folder) {
  std::vector<SimulatedProcess> processes;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.path().extension() != ".gpu") continue;
    if (auto process = ProcessFrom(Contents(entry.path()))) processes.push_back(*std::move(process));
  }
  std::ranges::sort(processes, {}, &SimulatedProcess::pid);
  return processes;
}

SimulationUnknowns ReadSimulationUnknowns(const std::string& folder) {
  constexpr std::string_view kShape = "shape ";
  std::set<std::string> shapes;
  SimulationUnknowns unknowns;
  std::istringstream lines(Contents(std::filesystem::path(folder) / "unknown"));
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(kShape)) shapes.insert(line.substr(kShape.size()));
    unknowns.numbers = unknowns.numbers || line == "number";
  }
  unknowns.shapes.assign(shapes.begin(), shapes.end());
  return unknowns;
}

}  // namespace memoir
