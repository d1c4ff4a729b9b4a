// The options of a recording, from memoir_start's list and the environment. proto/memoir/options.def is the one table
// of them.
#ifndef TRACKER_SESSION_SETTINGS_H_
#define TRACKER_SESSION_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tracker/session/recording_controls.h"
#include "tracker/session/snapshots.h"

namespace memoir {

struct Settings {
  std::string output;           // absolute
  std::uint64_t max_size = 0;   // bytes; 0: no cap
  std::string ring_dir;         // absolute; "": the ring chooses
  std::uint64_t ring_size = 0;  // bytes
  std::optional<std::uint32_t> rank;
  bool dispatched_operators = false;  // from the dispatcher's fallback instead of ranges
  bool quiet = false;
  ControlOptions controls;
  bool modules = true;
  bool stacks = true;          // of Python
  bool native_stacks = false;  // and of C and C++ inside it
  bool calls = false;          // and calls of its functions
  bool kernels = true;         // launches of CUDA's
  bool kernel_times = false;   // and how long they ran
  bool publishes = false;      // blocks of CUDA's allocator, through NVTX
  bool holders = false;        // who holds tensors, looked for between steps and at the end
  SnapshotsOn snapshots;
  std::string program;  // what the caller knows of its process
  std::string python_version;
  bool automatic = false;             // nobody asked for this very process: without events it leaves no file
  bool child = false;                 // multiprocessing started it for another of the job's processes
  std::uint64_t forked_from = 0;      // the recorded process whose forked child this is
  std::vector<std::string> warnings;  // e.g. a MEMOIR_* variable that does not exist
};

// `given` comes before the environment. On a bad value returns nothing and says in `error` which one and what it may
// be.
std::optional<Settings> ReadSettings(const char* const* given, std::string* error);

// "512MiB", "2GiB", "100000"; also KB, MB, GB as powers of ten. Nothing when it is no size.
std::optional<std::uint64_t> ParseSize(const std::string& text);

}  // namespace memoir

#endif  // TRACKER_SESSION_SETTINGS_H_
