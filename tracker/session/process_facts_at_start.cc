#include "tracker/session/process_facts_at_start.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <optional>

#include "interpose/system/own_files.h"
#include "interpose/system/process_identity.h"
#include "tracker/session/process/host_facts.h"
#include "tracker/session/process/unrecorded.h"
#include "tracker/stacks/stack_recorder.h"

namespace memoir {

std::string FileStem(const ProcessFacts& facts) {
  char rank[16];
  std::snprintf(rank, sizeof rank, "r%05u", facts.rank);
  return std::string(rank) + ".a" + std::to_string(facts.restart) + "." + facts.host + "." + std::to_string(facts.pid);
}

void CopyRank(const Rank& rank, ProcessFacts* facts) {
  facts->rank = rank.rank;
  facts->world_size = rank.world_size;
  facts->restart = rank.restart;
  facts->rank_source = rank.source;
  facts->rank_conflict = rank.conflict;
}

namespace {

// Returns the settings of torch's allocator from the environment. torch 2.9 and later read PYTORCH_ALLOC_CONF first;
// earlier versions read only PYTORCH_CUDA_ALLOC_CONF.
std::string AllocatorSettings(const std::string& torch_version) {
  const std::string minor = torch_version.substr(std::min(torch_version.find('.') + 1, torch_version.size()));
  const bool has_both =
      std::strtoul(torch_version.c_str(), nullptr, 10) > 2 || std::strtoul(minor.c_str(), nullptr, 10) >= 9;
  for (const char* const name : {"PYTORCH_ALLOC_CONF", "PYTORCH_CUDA_ALLOC_CONF"}) {
    const char* const settings = std::getenv(name);
    const bool counts = has_both || name != std::string("PYTORCH_ALLOC_CONF");
    if (counts && settings != nullptr && *settings != '\0') return settings;
  }
  return "";
}

}  // namespace

ProcessFacts CollectProcessFacts(const Settings& settings, OperatorHook operators, std::uint64_t ticks_per_second) {
  ProcessFacts facts;
  CopyRank(FindRank(settings.rank, std::nullopt), &facts);
  ProcessIdentity process{}, parent{};
  InOwnFiles([&] {
    process = OwnIdentity();
    parent = IdentityOf(static_cast<std::uint64_t>(getppid()));
  });
  facts.pid = process.pid;
  facts.process_start = process.start_time;
  facts.parent_pid = parent.pid;
  facts.parent_start = parent.start_time;
  facts.host = HostName();
  facts.forked_from = settings.forked_from;
  facts.program = settings.program;
  facts.memoir_version = MEMOIR_VERSION;
  facts.torch_version = CompiledTorchVersion();
  facts.python_version = settings.python_version;
  facts.ticks_per_second = ticks_per_second;
  facts.sources = {operators == OperatorHook::kDispatch ? "dispatch" : "ranges", "cpu-allocator"};
  facts.simulated_device = SimulatedDevice();
  if (settings.modules) facts.sources.emplace_back("modules");
  if (StacksAreRecorded()) facts.sources.emplace_back("python-stacks");
  if (settings.controls.detail == Detail::kAuto) facts.sources.emplace_back("known-steps");
  if (settings.kernels) facts.sources.emplace_back("cuda-kernels");
  AddLateSources(&facts);
  facts.boot_id = process.boot_id;
  if (const char* run = std::getenv("MEMOIR_RUN"); run != nullptr) facts.run = run;
  facts.allocator_settings = AllocatorSettings(facts.torch_version);
  return facts;
}

}  // namespace memoir
