#include "tools/cli/fit/fit_subjects.h"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <utility>

#include "tools/cli/process/private_folder.h"

namespace memoir {
namespace {

namespace fs = std::filesystem;

// Returns a size above any card's memory, but small enough for the address space of most systems. It is at most half of
// the limit of `ulimit -v`, because the program needs the other half.
std::uint64_t UnlimitedMemory(const FitOptions& options) {
  constexpr std::uint64_t kMost = 1ull << 40;
  return std::min(kMost, AddressSpaceLimit() / 2 / options.devices.value_or(1));
}

FitCard CardOf(const FitSubject& subject, FitRun run) {
  FitCard card;
  card.key = subject.card.key;
  card.name = subject.card.name;
  card.memory = subject.card.memory;
  card.memory_most = subject.card.memory_most;
  // The simulated device reports a rounded size of its memory. The answer uses this size.
  if (const auto deciding = DecidingDeviceOf(run)) card.memory = deciding->device.total;
  card.low.run = std::move(run);
  return card;
}

std::string ListText(const std::vector<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

Simulation FitSubjects::SimulationOf(const FitSubject& subject) const {
  const std::string memory = options_.memory.empty() ? "" : std::to_string(subject.card.memory);
  return {.name = subject.name, .card = subject.card.key, .memory = memory, .command = subject.command};
}

FitCard FitSubjects::RunHere(const FitSubject& subject, ChildResult& result) {
  Simulation simulation = SimulationOf(subject);
  if (!options_.output.empty()) simulation.keep = fs::absolute(options_.output).string();
  return CardOf(subject, simulator_.RunHere(simulation, result));
}

std::optional<std::vector<FitCard>> FitSubjects::Run(const std::vector<FitSubject>& subjects, const std::string& what) {
  std::vector<Simulation> simulations;
  for (const FitSubject& subject : subjects) {
    simulations.push_back(SimulationOf(subject));
    if (options_.output.empty()) continue;
    simulations.back().keep = (fs::absolute(options_.output) / subject.name).string();
    (void)MakePrivateFolders(simulations.back().keep);
  }
  auto runs = simulator_.RunAll(simulations, what);
  if (!runs) return std::nullopt;
  std::vector<FitCard> cards;
  for (std::size_t i = 0; i < subjects.size(); ++i) cards.push_back(CardOf(subjects[i], std::move((*runs)[i])));
  return cards;
}

// The first run assumes the smallest possible shapes where a shape is unknown, and a GPU that completes its work late.
// So the additional runs assume the largest possible shapes, or a GPU that completes its work at once.
bool FitSubjects::RunBounds(const std::vector<FitSubject>& subjects, std::vector<FitCard>& cards) {
  std::vector<Simulation> simulations;
  std::vector<std::size_t> of;
  const auto add = [&](std::size_t i, const char* suffix) -> Simulation& {
    simulations.push_back(SimulationOf(subjects[i]));
    simulations.back().name += suffix;
    of.push_back(i);
    return simulations.back();
  };
  for (std::size_t i = 0; i < cards.size(); ++i) {
    FitCard& card = cards[i];
    const bool failed = VerdictOf(card.low.run) == FitVerdict::kFailed;
    if (const auto& names = card.low.run.unknown_shapes; !names.empty()) {
      card.unknowns.push_back("values that were not computed, in " + ListText(names));
      add(i, "-most").takes_most = true;
    }
    if (!failed && card.low.run.recording && card.low.run.recording->holds_back) {
      card.unknowns.push_back("how far the GPU lags behind, as blocks are used on several streams");
      add(i, "-at-once").at_once = true;
    }
  }
  if (simulations.empty()) return true;
  auto runs = simulator_.RunAll(simulations, "with other assumptions");
  if (!runs) return false;
  for (std::size_t i = 0; i < of.size(); ++i) {
    FitCard& card = cards[of[i]];
    FitRun run = std::move((*runs)[i]);
    if (!simulations[i].at_once) {
      card.high = FitAttempt{.run = std::move(run)};
    } else {
      if (!card.high) card.high = std::move(card.low);
      card.low = FitAttempt{.run = std::move(run), .at_once = true};
    }
  }
  return true;
}

bool FitSubjects::LearnNeeds(const std::vector<FitSubject>& subjects, std::vector<FitCard>& cards) {
  std::vector<Simulation> simulations;
  std::vector<FitAttempt*> of;
  const std::uint64_t unlimited = UnlimitedMemory(options_);
  bool too_few_addresses = false;
  for (std::size_t i = 0; i < cards.size(); ++i) {
    for (FitAttempt* const attempt : {&cards[i].low, cards[i].high ? &*cards[i].high : nullptr}) {
      if (attempt == nullptr || VerdictOf(attempt->run) != FitVerdict::kDoesNotFit) continue;
      if (unlimited <= cards[i].memory) {
        too_few_addresses = true;
        continue;
      }
      simulations.push_back(SimulationOf(subjects[i]));
      const bool high = attempt != &cards[i].low;
      simulations.back().takes_most = high;
      simulations.back().at_once = attempt->at_once;
      simulations.back().name += high ? "-most-unlimited" : "-unlimited";
      simulations.back().memory = std::to_string(unlimited);
      of.push_back(attempt);
    }
  }
  if (too_few_addresses)
    simulator_.PrintOnce(
        "ulimit -v leaves too few addresses for a run without the card's limit: raise it to learn more");
  if (simulations.empty()) return true;
  auto runs = simulator_.RunAll(simulations, "what it takes without the card's limit");
  if (!runs) return false;
  for (std::size_t i = 0; i < of.size(); ++i) of[i]->unlimited = std::move((*runs)[i]);
  return true;
}

}  // namespace memoir
