#include "tools/analyze/compare/matched_devices.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

namespace memoir {
namespace {

// The rank, the name, and a number that distinguishes devices with the same rank and name: a restarted rank has several
// such devices.
using DeviceKey = std::tuple<std::int64_t, std::string, std::size_t>;

// `alone`: true if each capture has at most one process. In this case ranks are ignored.
std::map<DeviceKey, const SideInputs*> ByKey(const std::vector<SideInputs>& sides, bool alone) {
  std::map<DeviceKey, const SideInputs*> by_key;
  std::map<std::pair<std::int64_t, std::string>, std::size_t> counts;
  for (const SideInputs& one : sides) {
    const std::int64_t rank = alone || !one.side.device.rank ? -1 : static_cast<std::int64_t>(*one.side.device.rank);
    const std::string& name = one.side.device.name;
    by_key[{rank, name, counts[{rank, name}]++}] = &one;
  }
  return by_key;
}

// Ranks of one host use different GPUs. If each capture has one process, and one GPU that the other capture lacks, B's
// GPU receives the key of A's GPU. So the two GPUs are compared.
void MatchOnlyGpus(const std::map<DeviceKey, const SideInputs*>& of_a, std::map<DeviceKey, const SideInputs*>& of_b) {
  const auto only_in = [](const auto& these, const auto& others) {
    std::vector<DeviceKey> only;
    for (const auto& [key, one] : these) {
      if (one->side.device.caching && !others.contains(key)) only.push_back(key);
    }
    return only;
  };
  const std::vector<DeviceKey> only_a = only_in(of_a, of_b), only_b = only_in(of_b, of_a);
  if (only_a.size() != 1 || only_b.size() != 1) return;
  auto gpu = of_b.extract(only_b[0]);
  gpu.key() = only_a[0];
  of_b.insert(std::move(gpu));
}

std::size_t Processes(const std::vector<SideInputs>& sides) {
  std::vector<ProcessId> processes;
  for (const SideInputs& one : sides) processes.push_back(one.side.device.process);
  std::ranges::sort(processes);
  return static_cast<std::size_t>(std::ranges::unique(processes).begin() - processes.begin());
}

}  // namespace

std::vector<DevicePair> MatchDevices(const std::vector<SideInputs>& a, const std::vector<SideInputs>& b) {
  const bool alone = Processes(a) <= 1 && Processes(b) <= 1;
  const auto of_a = ByKey(a, alone);
  auto of_b = ByKey(b, alone);
  if (alone) MatchOnlyGpus(of_a, of_b);
  std::vector<DevicePair> pairs;
  for (const auto& [key, device] : of_a) {
    const auto same = of_b.find(key);
    pairs.push_back({device, same == of_b.end() ? nullptr : same->second});
  }
  for (const auto& [key, device] : of_b) {
    if (!of_a.contains(key)) pairs.push_back({nullptr, device});
  }
  return pairs;
}

}  // namespace memoir
