// What a recording that is being written shows at one moment: numbers and names alone, of all processes of a folder.
#ifndef TOOLS_ANALYZE_LIVE_LIVE_PICTURE_H_
#define TOOLS_ANALYZE_LIVE_LIVE_PICTURE_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "memoir/v1/capture.pb.h"
#include "tools/analyze/live/growth.h"
#include "tools/analyze/pass/options.h"

namespace memoir {

struct LiveShare {
  std::string name;
  std::uint64_t bytes = 0;
};

// The most of one second.
struct LiveLevel {
  std::uint64_t allocated = 0, reserved = 0;
};

struct LiveMemory {
  std::string name;      // "cpu", "cuda:0"
  bool caching = false;  // reserved and active are known
  std::uint64_t allocated = 0, active = 0, reserved = 0;
  std::uint64_t peak = 0;                 // allocated, of all that was read
  std::uint64_t step_peak = 0;            // allocated, of the step before the one that runs; 0: no step yet
  std::optional<std::uint64_t> total;     // of the card, or what the host's memory or its cgroup allows
  std::optional<std::uint64_t> headroom;  // what may still be allocated of it
  std::uint64_t retries = 0, ooms = 0;
  std::vector<LiveLevel> levels;  // one a second, the newest last
  // Of a step's peak, most bytes first; empty: none was read in full.
  std::vector<LiveShare> categories, modules;
  std::uint64_t rows_step = 0;   // that step
  std::uint64_t rows_bytes = 0;  // allocated then
  std::optional<LiveGrowth> growth;
  std::optional<double> seconds_left, steps_left;  // until memory runs out; only with growth
};

// Fills in when memory runs out if a device's growth goes on; where growth or headroom is not known, nothing.
void Foresee(double step_seconds, LiveMemory& device);

enum class LiveState : std::uint8_t { kRuns, kSilent, kEnded, kDied, kFileGone };
const char* ToString(LiveState state);  // "running", "silent", "ended", "died", "removed"
inline bool Runs(LiveState state) { return state == LiveState::kRuns || state == LiveState::kSilent; }

struct LiveOutOfMemory {
  std::uint64_t step = 0;
  std::uint64_t asked = 0;
  std::string device;
};

// The newest steps that somebody asked for in full while the program ran.
struct LiveAsked {
  std::uint64_t times = 0;  // that such steps began
  std::uint64_t steps = 0;  // so many were asked for
  std::uint64_t first = 0;  // of them
  std::uint64_t begun = 0;  // of them, so far
  bool open = false;        // they are not over
};

struct LiveProcess {
  std::string program, host, simulated;
  std::uint64_t pid = 0;
  std::optional<std::uint32_t> rank;
  std::uint32_t world_size = 0, restart = 0;
  LiveState state = LiveState::kRuns;
  std::string end;       // of kEnded: how, and the exception that ended the program
  bool is_whole = true;  // of kDied: what its ring still held has been merged
  double runs_s = 0;     // since it began, until now or its end
  double age_s = 0;      // of the newest data
  StepSource step_source = StepSource::kNone;
  std::uint64_t step = 0, steps = 0;  // the newest, as the program counts; how many began
  double step_seconds = 0;            // of late; 0: not known
  double events_per_second = 0;       // of late
  std::uint64_t events = 0;
  std::vector<LiveMemory> devices;
  std::vector<LiveOutOfMemory> ooms;  // the last few
  std::uint64_t oom_count = 0;
  std::uint64_t lost_events = 0;  // dropped by the ring, lost at the disk, or missing in the files
  std::string write_error;        // of the recorder
  v1::RecordingLevel level = v1::LEVEL_ALL;
  bool knows_steps = false;  // --detail auto: memory alone is recorded of a step that is like others
  LiveAsked asked;
  double full_share = 1;    // of the chunks read of late those in full
  bool begun_late = false;  // its beginning was not read
  std::string damage;       // of its files; "": none
};

struct LivePicture {
  std::string folder;
  std::uint64_t time_ns = 0;  // since 1970
  double reader_share = 0;    // of a processor, of late
  std::vector<LiveProcess> processes;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_LIVE_LIVE_PICTURE_H_
