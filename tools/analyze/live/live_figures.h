// The figures and names that `memoir live` shows at one instant, for all processes of a capture.
#ifndef TOOLS_ANALYZE_LIVE_LIVE_FIGURES_H_
#define TOOLS_ANALYZE_LIVE_LIVE_FIGURES_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "memoir/v1/capture.pb.h"
#include "tools/analyze/live/growth_series.h"
#include "tools/analyze/pass/window/selection.h"

namespace memoir {

// A category or a module, and its bytes at a peak.
struct LiveShare {
  std::string name;
  std::uint64_t bytes = 0;
};

// The most bytes at any time within one second.
struct LiveLevel {
  std::uint64_t allocated = 0, reserved = 0;
};

// The memory of one device.
struct LiveMemory {
  std::string name;      // "cpu", "cuda:0"
  bool caching = false;  // true: reserved and active bytes are known
  std::uint64_t allocated = 0, active = 0, reserved = 0;
  std::uint64_t peak = 0;                 // most allocated bytes at any event that was read
  std::uint64_t step_peak = 0;            // most allocated bytes in the newest complete step; 0: no step yet
  std::optional<std::uint64_t> total;     // bytes of the card; for the host: its memory, or the cgroup's limit
  std::optional<std::uint64_t> headroom;  // bytes of `total` that can still be allocated
  std::uint64_t retries = 0, ooms = 0;    // of the caching allocator
  std::vector<LiveLevel> levels;          // one for each second, the newest last
  // The composition of the peak of one step, most bytes first. Empty if no step was read with all operators.
  std::vector<LiveShare> categories, modules;
  std::uint64_t rows_step = 0;   // the number of that step
  std::uint64_t rows_bytes = 0;  // live bytes at the peak of that step
  std::optional<LiveGrowth> growth;
  std::optional<double> seconds_left, steps_left;  // time and steps until memory runs out; only with growth
};

// Fills in seconds_left and steps_left, for the case that the device's growth continues. Does nothing if growth or
// headroom is unknown. `step_seconds`: average length of a step; 0: unknown.
void Foresee(double step_seconds, LiveMemory& device);

enum class LiveState : std::uint8_t {
  kRuns,
  kSilent,    // the process runs, but has recorded no event for some time
  kEnded,     // the recording has an End
  kDied,      // the process is gone without an End of its own, for example because it was killed
  kFileGone,  // the files of the recording were removed
};
const char* ToString(LiveState state);  // "running", "silent", "ended", "died", "removed"
inline bool IsRunning(LiveState state) { return state == LiveState::kRuns || state == LiveState::kSilent; }

struct LiveOutOfMemory {
  std::uint64_t step = 0;
  std::uint64_t asked = 0;
  std::string device;
};

// The newest request, which a user makes while the program runs, to record steps with all operators.
struct FullStepRequest {
  std::uint64_t times = 0;  // number of requests so far
  std::uint64_t steps = 0;  // steps in this request
  std::uint64_t first = 0;  // number of the first of these steps
  std::uint64_t begun = 0;  // how many of these steps have begun
  bool open = false;        // true: not all of these steps have ended
};

struct LiveProcess {
  std::string program, host, simulated;
  std::uint64_t pid = 0;
  std::optional<std::uint32_t> rank;
  std::uint32_t world_size = 0, restart = 0;
  LiveState state = LiveState::kRuns;
  std::string end;       // for kEnded: how the program ended, with its exception
  bool is_whole = true;  // for kDied: false until the rest of the process's ring has been merged
  double runs_s = 0;     // seconds from its begin until now, or until its end
  double age_s = 0;      // age of the newest data, in seconds
  StepSource step_source = StepSource::kNone;
  std::uint64_t step = 0, steps = 0;  // newest step as the program counts, and number of steps begun
  double step_seconds = 0;            // average length of recent steps; 0: unknown
  double events_per_second = 0;       // average over recent time
  std::uint64_t events = 0;
  std::vector<LiveMemory> devices;
  std::vector<LiveOutOfMemory> ooms;  // the newest errors, oldest first
  std::uint64_t oom_count = 0;
  std::uint64_t lost_events = 0;  // events that the ring dropped, that writing lost, or that the files lack
  std::string write_error;        // error of the writer
  v1::RecordingLevel level = v1::LEVEL_ALL;
  bool collapses_repeated_steps = false;  // true: repeated steps are recorded without operators (--detail auto)
  FullStepRequest asked;
  double full_share = 1;    // share of recent chunks that were read with all operators; below 1 if --cpu is too low
  bool begun_late = false;  // true: the begin of the recording was not read
  std::string damage;       // damage of its files; empty: no damage
};

struct LiveFigures {
  std::string folder;
  std::uint64_t time_ns = 0;  // since the Unix epoch
  double reader_share = 0;    // recent processor time of the reader, as a share of one processor
  std::vector<LiveProcess> processes;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVE_LIVE_FIGURES_H_
