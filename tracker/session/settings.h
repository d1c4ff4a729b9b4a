// The options of a recording, from memoir_start's list and from the environment. proto/memoir/options.def is the only
// table of these options.
#ifndef TRACKER_SESSION_SETTINGS_H_
#define TRACKER_SESSION_SETTINGS_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tracker/session/control/recording_controls.h"
#include "tracker/session/recording_snapshots.h"

namespace memoir {

struct Settings {
  std::string output;           // absolute path of the capture
  std::uint64_t max_size = 0;   // bytes; 0: no limit
  std::string ring_dir;         // absolute path; "": the ring chooses a folder
  std::uint64_t ring_size = 0;  // bytes
  std::optional<std::uint32_t> rank;
  bool dispatched_operators = false;  // record operators below autograd, in torch's dispatcher, instead of as ranges
  bool quiet = false;
  ControlOptions controls;
  bool modules = true;
  bool stacks = true;          // record Python stacks
  bool native_stacks = false;  // add the frames of C and C++ to Python stacks
  bool calls = false;          // record calls of Python functions
  bool kernels = true;         // record launches of CUDA kernels
  bool kernel_times = false;   // record run times of kernels
  bool publishes = false;      // publish blocks of torch's CUDA allocator through NVTX
  bool holders = false;        // search for holders of tensors, between steps and at the end
  SnapshotTriggers snapshots;
  std::string program;  // name of the program, from the caller
  std::string python_version;
  bool automatic = false;             // started by Memoir, not the program; a recording without events leaves no file
  bool child = false;                 // another process of the job started this one
  std::uint64_t forked_from = 0;      // pid of the recorded parent, in a forked child that began to record; otherwise 0
  std::vector<std::string> warnings;  // one line each, such as one about an unknown MEMOIR_* variable
};

// Reads the settings. `given` takes precedence over the environment. nullopt if a value is invalid; `error` then
// contains the value and the values that are valid.
std::optional<Settings> ReadSettings(const char* const* given, std::string* error);

}  // namespace memoir

#endif  // TRACKER_SESSION_SETTINGS_H_
