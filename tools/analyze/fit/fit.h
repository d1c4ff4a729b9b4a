// Decides whether a program fits on a card, from the results of one or more simulated runs.
//
// Does no I/O: `memoir fit` starts the runs. Sizes are bytes on a simulated device. The card's memory, its context and
// the buffers of libraries come from tables; everything that torch allocates is the same as on a real card.
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

// One simulated run.
struct FitRun {
  int exit_code = 0;  // 128 + signal if a signal ended the run
  int signal = 0;
  std::vector<SimulatedProcess> processes;  // processes that used a device
  bool interrupted = false;                 // the user stopped the run with ^C; the figures cover the time until then
  std::vector<std::string> unknown_shapes;  // operators whose result shapes depend on values that were not computed
  bool unknown_numbers = false;             // the program read values that were not computed, and received zeros
  std::optional<FitRecording> recording;    // recording of the deciding device; nullopt: not recorded
};

enum class FitVerdict : std::uint8_t {
  kFits,
  kDoesNotFit,  // the program ran out of device memory and failed
  kWentOn,      // the program ran out of device memory, handled the error, and ended well
  kDepends,     // depends on facts that a simulation lacks: FitCard::unknowns, or how processes share the card
  kFailed,      // the program failed for a reason other than memory
  kUnused,      // the program allocated nothing on the GPU, and ended well
  kInterrupted,
};

// Returns the verdict of one run. Never kDepends: only the verdict of a card can be kDepends.
FitVerdict VerdictOf(const FitRun& run);

// A simulated device, and the process that used it.
struct DecidingDevice {
  std::uint64_t pid = 0;
  SimulatedDevice device;
};
// Returns the device with the largest peak among those that ran out of memory; if there is no such device, among all
// devices. nullopt if no process used a device.
std::optional<DecidingDevice> DecidingDeviceOf(const FitRun& run);

// A run on the card. If the program does not fit, a second run with unlimited memory measures how much the program
// needs.
struct FitAttempt {
  FitRun run;
  std::optional<FitRun> unlimited = std::nullopt;
  bool at_once = false;  // true: work on the simulated device completed immediately
};

// Returns the largest peak of a device in the run with unlimited memory. If there is no such run, in the first run.
// nullopt if this run failed or did not use the GPU.
std::optional<std::uint64_t> NeedOf(const FitAttempt& attempt);

// A card, and the runs of the program on it.
struct FitCard {
  std::string key;                // "h100"
  std::string name;               // "NVIDIA H100 80GB HBM3"
  std::uint64_t memory = 0;       // bytes that a program can use: the smallest amount that a driver reports
  std::uint64_t memory_most = 0;  // the largest amount that a driver reports; 0: only one amount is known
  std::string torch;              // torch's version in the runs: allocations depend on it; empty: unknown
  FitAttempt low;                 // the attempt under the assumption that needs the least memory
  // The attempt under the assumption that needs the most memory. nullopt if the need does not depend on facts that a
  // simulation lacks.
  std::optional<FitAttempt> high;
  std::vector<std::string> unknowns;  // the reasons for `high`, a phrase for each
};

// Returns the verdict of all runs on the card. kDepends if `low` and `high` have different verdicts, or if processes
// that share the card may need more memory than it has.
FitVerdict VerdictOf(const FitCard& card);

// Returns the run that decides the exit code: the run of FitCard::high if `low` failed and `high` did not, otherwise
// the run of FitCard::low.
const FitRun& LeadingRun(const FitCard& card);

// The least and the most bytes that the program may need. Equal if FitCard::unknowns is empty and no processes share
// the card. `low` is 0 if FitCard::low failed.
struct FitInterval {
  std::uint64_t low = 0, high = 0;
  bool is_point() const { return low == high; }
};
// Returns the need of the program on the card. nullopt if the runs did not measure it.
std::optional<FitInterval> NeedOf(const FitCard& card);

// Returns true if two processes used one device. In the simulation each process could use the whole card; on a real
// card the processes share the memory.
bool SharesADevice(const FitRun& run);
// Sums, for each card, the peaks of all processes on the card, as if the peaks were at the same time. Returns the
// largest sum. 0 if no processes share a card.
std::uint64_t SharedNeedOf(const FitRun& run);

// Returns the possible error, in bytes, of the tables for a card with this much memory. Contexts of real processes
// differ by about 100 MiB, and the totals that drivers report by up to 3 % (docs/tested/truth.md).
constexpr std::uint64_t TablesAreExactTo(std::uint64_t memory) {
  constexpr std::uint64_t kLeast = 512ull << 20;
  return std::max(kLeast, memory / 100 * 3);
}

// Returns true if the program fits, but with fewer free bytes than the possible error of the tables.
bool FitsBarely(const FitCard& card);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_FIT_FIT_H_
