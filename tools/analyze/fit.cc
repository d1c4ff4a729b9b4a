#include "tools/analyze/fit.h"

#include <algorithm>
#include <set>

namespace memoir {
namespace {

bool RanOut(const FitRun& run) {
  if (run.recording && run.recording->out_of_memory) return true;
  return std::ranges::any_of(run.processes, [](const SimulatedProcess& process) {
    return std::ranges::any_of(process.devices, [](const SimulatedDevice& device) { return device.refused > 0; });
  });
}

// A context alone is no use of the GPU: asking for its properties makes one.
bool UsesMemory(const FitRun& run) {
  return std::ranges::any_of(run.processes, [](const SimulatedProcess& process) {
    return std::ranges::any_of(process.devices, [](const SimulatedDevice& device) {
      return device.peak > device.context || device.refusals > 0;
    });
  });
}

bool EndedWell(FitVerdict verdict) { return verdict == FitVerdict::kFits || verdict == FitVerdict::kWentOn; }

}  // namespace

FitVerdict VerdictOf(const FitRun& run) {
  if (run.exit_code != 0) return RanOut(run) ? FitVerdict::kDoesNotFit : FitVerdict::kFailed;
  if (!UsesMemory(run)) return FitVerdict::kUnused;
  return RanOut(run) ? FitVerdict::kWentOn : FitVerdict::kFits;
}

std::optional<DecidingDevice> DecidingDeviceOf(const FitRun& run) {
  std::optional<DecidingDevice> found;
  const auto rank = [](const SimulatedDevice& device) { return std::pair(device.refused > 0, device.peak); };
  for (const SimulatedProcess& process : run.processes) {
    for (const SimulatedDevice& device : process.devices) {
      if (!found || rank(device) > rank(found->device)) found = DecidingDevice{process.pid, device};
    }
  }
  return found;
}

std::optional<std::uint64_t> NeedOf(const FitTry& attempt) {
  const FitRun& run = attempt.unlimited ? *attempt.unlimited : attempt.run;
  if (!EndedWell(VerdictOf(run))) return std::nullopt;
  std::uint64_t most = 0;
  for (const SimulatedProcess& process : run.processes) {
    for (const SimulatedDevice& device : process.devices) most = std::max(most, device.peak);
  }
  return most;
}

FitVerdict VerdictOf(const FitCard& card) {
  const FitVerdict low = VerdictOf(card.low.run);
  if (!card.high) return low;
  const FitVerdict high = VerdictOf(card.high->run);
  // A failure of the second run leaves the most unknown: no answer either.
  return low == high || low == FitVerdict::kFailed ? low : FitVerdict::kDepends;
}

std::optional<FitInterval> NeedOf(const FitCard& card) {
  const auto low = NeedOf(card.low);
  if (!card.high) return low ? std::optional(FitInterval{*low, *low}) : std::nullopt;
  const auto high = NeedOf(*card.high);
  if (!low || !high) return std::nullopt;
  return FitInterval{std::min(*low, *high), std::max(*low, *high)};
}

bool SharesADevice(const FitRun& run) {
  std::set<std::uint64_t> seen;
  for (const SimulatedProcess& process : run.processes) {
    for (const SimulatedDevice& device : process.devices) {
      if (device.peak > device.context && !seen.insert(device.ordinal).second) return true;
    }
  }
  return false;
}

}  // namespace memoir
