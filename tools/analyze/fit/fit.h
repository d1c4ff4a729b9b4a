// Does a program fit on a card: what one or more simulated runs of it say together.
//
// Pure: the runs are made by `memoir fit`. Sizes are bytes, and those of a simulated device: of its card's memory,
// context and libraries' buffers from tables, of everything that torch took as torch took it.
#ifndef TOOLS_ANALYZE_FIT_FIT_H_
#define TOOLS_ANALYZE_FIT_FIT_H_

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "tools/analyze/fit/fit_recording.h"
#include "tools/read/simulation_report.h"

namespace memoir {

// One run from its start to its end.
struct FitRun {
  int exit_code = 0;  // 128 + signal where one ended it
  int signal = 0;
  std::vector<SimulatedProcess> processes;  // that used a device
  bool interrupted = false;                 // by ^C: what is known is of the time up to then
  std::vector<std::string> unknown_shapes;  // operators whose results' shapes depend on values that were not computed
  bool unknown_numbers = false;             // the program read such values itself, as zeros
  std::optional<FitRecording> recording;    // of the device that decides; none: nothing was recorded
};

enum class FitVerdict : std::uint8_t {
  kFits,
  kDoesNotFit,  // it ran out of the device's memory, and failed
  kWentOn,      // it ran out, handled that, and ended well
  kDepends,     // on what a simulation cannot know: FitCard::unknowns
  kFailed,      // for another reason
  kUnused,      // it allocated nothing on the GPU, and ended well
  kInterrupted,
};

// kDepends is no verdict of a single run.
FitVerdict VerdictOf(const FitRun& run);

struct DecidingDevice {
  std::uint64_t pid = 0;
  SimulatedDevice device;
};
// Of all devices of all processes the one that ran out, or else that had the greatest peak.
std::optional<DecidingDevice> DecidingDeviceOf(const FitRun& run);

// A run on the card, and where it does not fit, one with more memory than any card has, to learn the need.
struct FitTry {
  FitRun run;
  std::optional<FitRun> unlimited = std::nullopt;
  bool at_once = false;  // the device's work was complete at once
};

// The greatest bytes that any one device needed; nothing where no run got to its end.
std::optional<std::uint64_t> NeedOf(const FitTry& attempt);

struct FitCard {
  std::string key;           // "h100"
  std::string name;          // "NVIDIA H100 80GB HBM3"
  std::uint64_t memory = 0;  // what a program could have of it in all: the least that a driver reports
  std::uint64_t memory_most = 0;  // the most that one reports; 0: only the one is known
  std::string torch;              // version of the torch that ran: what it allocates differs by it; "": not known
  FitTry low;                // with the assumption that needs least
  // Where what is needed depends on something that a simulation cannot know: with the assumption that needs most.
  std::optional<FitTry> high;
  std::vector<std::string> unknowns;  // why there is `high`: a phrase each
};

FitVerdict VerdictOf(const FitCard& card);

// The run whose end decides the exit code: that with the assumption that needs most where the other one failed.
const FitRun& LeadingRun(const FitCard& card);

// From the least to the most that it may need: equal where nothing is unknown. `low` is 0 where only the run with the
// assumption that needs most got to its end.
struct FitInterval {
  std::uint64_t low = 0, high = 0;
  bool is_point() const { return low == high; }
};
std::optional<FitInterval> NeedOf(const FitCard& card);

// Two processes on one device had the card to themselves in the simulation; on a real one they share it.
bool SharesADevice(const FitRun& run);
// Then: what those of one card take together if all have their peaks at once, the greatest of such sums; else 0.
std::uint64_t SharedNeedOf(const FitRun& run);

// What the tables of a card with so much memory are exact to: contexts of real processes differ by some 100 MiB, and
// what drivers call total by up to 3 % (docs/truth.md).
constexpr std::uint64_t TablesAreExactTo(std::uint64_t memory) {
  constexpr std::uint64_t kLeast = 512ull << 20;
  return std::max(kLeast, memory / 100 * 3);
}

// It fits, and what is left is less than the tables are exact to.
bool FitsBarely(const FitCard& card);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_FIT_FIT_H_
