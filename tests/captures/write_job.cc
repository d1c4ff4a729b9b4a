// write_job OUT RANKS [--skew] [--odd RANK=ROLE] [--torch RANK=VERSION] [--mesh pp=2,dp=4] [--allocator RANK=SETTINGS]
// ROLE...: a job of so many ranks, each a copy of one of the captures in turn: rank, host, process id and start are its
// own, all else is as it was recorded. 8 ranks are on a host; with --skew the clocks of every second host are three
// hours ahead, and no `memoir run` says that they are one job. --odd makes one rank a copy of another capture, --torch
// says another version of torch, --allocator other settings of its allocator, --mesh where ranks stand, the last
// dimension fastest.
//
// Each ROLE is a folder with the recording of one process. Of several parts, all are copied.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "memoir/v1/capture.pb.h"
#include "tests/captures/capture_builder.h"

namespace {

using memoir::v1::Chunk;
using memoir::v1::Part;
using memoir::v1::ProcessInfo;

constexpr std::uint32_t kRanksOfHost = 8;
constexpr std::uint64_t kThreeHours = 3ull * 3600 * 1'000'000'000;

std::vector<Part> ReadParts(const std::string& folder) {
  std::vector<std::string> paths;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    if (file.path().extension() == ".memoir") paths.push_back(file.path().string());
  }
  std::ranges::sort(paths);
  std::vector<Part> parts;
  for (const std::string& path : paths) {
    std::ifstream file(path, std::ios::binary);
    std::stringstream bytes;
    bytes << file.rdbuf();
    if (!parts.emplace_back().ParseFromString(bytes.str())) {
      std::fprintf(stderr, "write_job: %s is no part, or a cut one\n", path.c_str());
      std::exit(1);
    }
  }
  return parts;
}

struct Rank {
  std::uint32_t number = 0, world = 0;
  bool skew = false;
  std::string torch, allocator;  // "": as it was recorded
  std::vector<std::pair<std::string, std::uint32_t>> mesh;
  std::string host() const {
    char text[16];
    std::snprintf(text, sizeof text, "node%04u", number / kRanksOfHost);
    return text;
  }
  std::uint64_t pid() const { return 1000 + number % kRanksOfHost; }
};

void Rename(const Rank& rank, ProcessInfo* process) {
  process->set_rank(rank.number);
  process->set_world_size(rank.world);
  process->set_rank_source("torchrun");
  process->set_host(rank.host());
  process->set_pid(rank.pid());
  process->set_run(rank.skew ? "" : "job");
  if (!rank.torch.empty()) process->set_torch_version(rank.torch);
  if (!rank.allocator.empty()) process->set_allocator_settings(rank.allocator);
  process->clear_coordinates();
  std::uint32_t above = rank.world;  // ranks at one place of the dimensions so far
  for (const auto& [dimension, size] : rank.mesh) {
    memoir::v1::Coordinate& of = *process->add_coordinates();
    of.set_dimension(dimension);
    of.set_size(size);
    of.set_index(rank.number % above / (above / size));
    above /= size;
  }
  // One process that stood for a simulated world would say that its other ranks never were.
  const std::string& device = process->simulated_device();
  process->set_simulated_device(device.substr(0, device.find(", alone of ")));
  const bool ahead = rank.skew && rank.number / kRanksOfHost % 2 == 1;
  if (ahead) process->mutable_start()->set_realtime_ns(process->start().realtime_ns() + kThreeHours);
}

// The index contains the places of the chunks, and its own length comes last.
std::string IndexBytes(Chunk chunk, const std::vector<std::uint64_t>& offsets) {
  for (int i = 0; i < chunk.index().chunks_size() && i + 1 < static_cast<int>(offsets.size()); ++i) {
    const auto at = static_cast<std::size_t>(i);
    chunk.mutable_index()->mutable_chunks(i)->set_offset(offsets[at]);
    chunk.mutable_index()->mutable_chunks(i)->set_bytes(offsets[at + 1] - offsets[at]);
  }
  const std::string with = memoir::testing::Delimited(chunk);
  std::size_t length_bytes = 1;
  while (static_cast<unsigned char>(with[length_bytes]) >= 0x80) ++length_bytes;
  chunk.set_chunk_bytes(with.size() - 1 - length_bytes);
  return memoir::testing::Delimited(chunk);
}

void WriteRank(const std::string& folder, const Rank& rank, const std::vector<Part>& role) {
  for (std::size_t i = 0; i < role.size(); ++i) {
    std::string bytes;
    std::vector<std::uint64_t> offsets;
    for (const Chunk& of : role[i].chunk()) {
      Chunk chunk = of;
      if (chunk.has_process()) Rename(rank, chunk.mutable_process());
      if (chunk.recording() != 0) chunk.set_recording(chunk.recording() + rank.number);
      offsets.push_back(bytes.size());
      bytes += chunk.has_index() ? IndexBytes(chunk, offsets) : memoir::testing::Delimited(chunk);
    }
    char name[96];
    std::snprintf(name, sizeof name, "/r%05u.a0.%s.%llu.p%04zu.memoir", rank.number, rank.host().c_str(),
                  static_cast<unsigned long long>(rank.pid()), i);
    memoir::testing::WriteFile(folder + name, bytes);
  }
}

// Takes `NAME RANK=TEXT` out of the words, as often as it is there.
std::map<std::uint32_t, std::string> TakeByRank(const std::string& name, std::vector<std::string>* words) {
  std::map<std::uint32_t, std::string> by_rank;
  for (auto at = std::ranges::find(*words, name); at != words->end() && at + 1 != words->end();
       at = std::ranges::find(*words, name)) {
    const std::string& value = at[1];
    const std::size_t equals = value.find('=');
    if (equals != std::string::npos) by_rank[static_cast<std::uint32_t>(std::stoul(value))] = value.substr(equals + 1);
    words->erase(at, at + 2);
  }
  return by_rank;
}

// Of "pp=2,dp=4".
std::vector<std::pair<std::string, std::uint32_t>> TakeMesh(std::vector<std::string>* words) {
  std::vector<std::pair<std::string, std::uint32_t>> mesh;
  const auto at = std::ranges::find(*words, "--mesh");
  if (at == words->end() || at + 1 == words->end()) return mesh;
  std::stringstream text(at[1]);
  for (std::string name, size; std::getline(text, name, '=') && std::getline(text, size, ',');)
    mesh.emplace_back(name, static_cast<std::uint32_t>(std::stoul(size)));
  words->erase(at, at + 2);
  return mesh;
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> words(argv + 1, argv + argc);
  const bool skew = std::erase(words, "--skew") > 0;
  auto odd = TakeByRank("--odd", &words), torch = TakeByRank("--torch", &words),
       allocator = TakeByRank("--allocator", &words);
  const auto mesh = TakeMesh(&words);
  if (words.size() < 3) {
    std::fprintf(stderr,
                 "usage: write_job OUT RANKS [--skew] [--odd RANK=ROLE] [--torch RANK=VERSION] [--mesh pp=2,dp=4] "
                 "[--allocator RANK=SETTINGS] ROLE...\n");
    return 2;
  }
  std::vector<std::vector<Part>> roles;
  for (std::size_t i = 2; i < words.size(); ++i) roles.push_back(ReadParts(words[i]));
  std::filesystem::create_directories(words[0]);
  const auto world = static_cast<std::uint32_t>(std::stoul(words[1]));
  for (std::uint32_t rank = 0; rank < world; ++rank) {
    WriteRank(words[0], {rank, world, skew, torch[rank], allocator[rank], mesh},
              odd.contains(rank) ? ReadParts(odd[rank]) : roles[rank % roles.size()]);
  }
  return 0;
}
