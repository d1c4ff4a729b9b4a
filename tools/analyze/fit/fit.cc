#include "tools/analyze/fit/fit.h"

#include <algorithm>
#include <map>
#include <set>

namespace memoir {
namespace {

bool RanOut(const FitRun& run) {
  if (run.recording && run.recording->out_of_memory) return true;
  return std::ranges::any_of(run.processes, [](const SimulatedProcess& process) {
    return std::ranges::any_of(process.devices, [](const SimulatedDevice& device) { return device.refused > 0; });
  });
}

// Returns true if a process allocated memory on a GPU. A context alone does not count, because a query of the GPU's
// properties creates one.
bool UsesMemory(const FitRun& run) {
  return std::ranges::any_of(run.processes, [](const SimulatedProcess& process) {
    return std::ranges::any_of(process.devices, [](const SimulatedDevice& device) {
      return device.peak > device.context || device.refusals > 0;
    });
  });
}

// Returns the number of the device's card in the machine. Without this number, returns the ordinal of the device.
std::uint64_t CardOf(const SimulatedDevice& device) { return device.card > 0 ? device.card - 1 : device.ordinal; }

bool EndedWell(FitVerdict verdict) { return verdict == FitVerdict::kFits || verdict == FitVerdict::kWentOn; }

}  // namespace

FitVerdict VerdictOf(const FitRun& run) {
  if (run.interrupted) return FitVerdict::kInterrupted;
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

std::optional<std::uint64_t> NeedOf(const FitAttempt& attempt) {
  const FitRun& run = attempt.unlimited ? *attempt.unlimited : attempt.run;
  if (!EndedWell(VerdictOf(run))) return std::nullopt;
  std::uint64_t most = 0;
  for (const SimulatedProcess& process : run.processes) {
    for (const SimulatedDevice& device : process.devices) most = std::max(most, device.peak);
  }
  return most;
}

namespace {

const FitRun& LimitedOrNot(const FitAttempt& attempt) { return attempt.unlimited ? *attempt.unlimited : attempt.run; }

std::uint64_t SharedNeedOf(const FitCard& card) {
  return std::max(SharedNeedOf(LimitedOrNot(card.low)), card.high ? SharedNeedOf(LimitedOrNot(*card.high)) : 0);
}

// Returns the verdict of the runs alone. In a run, each process can use the whole memory of the card.
FitVerdict VerdictOfRuns(const FitCard& card) {
  const FitVerdict low = VerdictOf(card.low.run);
  if (!card.high) return low;
  const FitVerdict high = VerdictOf(card.high->run);
  // `low` assumes that operators with unknown result shapes select nothing. If the program failed in this run for a
  // reason other than memory, the assumption may be the reason. So if the program fits in the run of `high`, it fits.
  if (low == FitVerdict::kFailed && high == FitVerdict::kFits) return high;
  if (low == FitVerdict::kFailed && high == FitVerdict::kUnused) return low;
  return low == high ? low : FitVerdict::kDepends;
}

std::optional<FitInterval> NeedOfRuns(const FitCard& card) {
  const auto low = NeedOf(card.low);
  if (!card.high) return low ? std::optional(FitInterval{*low, *low}) : std::nullopt;
  const auto high = NeedOf(*card.high);
  if (high && VerdictOf(card.low.run) == FitVerdict::kFailed) return FitInterval{0, *high};
  if (!low || !high) return std::nullopt;
  return FitInterval{std::min(*low, *high), std::max(*low, *high)};
}

}  // namespace

FitVerdict VerdictOf(const FitCard& card) {
  const FitVerdict alone = VerdictOfRuns(card);
  return alone == FitVerdict::kFits && SharedNeedOf(card) > card.memory ? FitVerdict::kDepends : alone;
}

const FitRun& LeadingRun(const FitCard& card) {
  const bool failed = VerdictOf(card.low.run) == FitVerdict::kFailed;
  return failed && card.high && VerdictOf(card.high->run) != FitVerdict::kFailed ? card.high->run : card.low.run;
}

std::optional<FitInterval> NeedOf(const FitCard& card) {
  auto need = NeedOfRuns(card);
  if (need) need->high = std::max(need->high, SharedNeedOf(card));
  return need;
}

bool FitsBarely(const FitCard& card) {
  const auto need = NeedOf(card);
  if (VerdictOf(card) != FitVerdict::kFits || !need) return false;
  return need->high + TablesAreExactTo(card.memory) > card.memory;
}

std::uint64_t SharedNeedOf(const FitRun& run) {
  std::map<std::uint64_t, std::uint64_t> sums;
  for (const SimulatedProcess& process : run.processes) {
    for (const SimulatedDevice& device : process.devices) sums[CardOf(device)] += device.peak;
  }
  std::uint64_t most = 0;
  for (const auto& [card, sum] : sums) most = std::max(most, sum);
  return SharesADevice(run) ? most : 0;
}

bool SharesADevice(const FitRun& run) {
  std::set<std::uint64_t> seen;
  for (const SimulatedProcess& process : run.processes) {
    for (const SimulatedDevice& device : process.devices) {
      if (device.peak > device.context && !seen.insert(CardOf(device)).second) return true;
    }
  }
  return false;
}

}  // namespace memoir
