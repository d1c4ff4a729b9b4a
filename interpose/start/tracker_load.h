// Which torch the process has loaded, and the tracker for it, which lies beside this library. For the start of a
// program (program_start.cc), and for programs that start recordings themselves (memoir_tracker). libc only. Any
// thread, but not in a signal handler.
#ifndef INTERPOSE_START_TRACKER_LOAD_H_
#define INTERPOSE_START_TRACKER_LOAD_H_

#include <cstddef>

#include "interpose/export.h"

namespace memoir {

inline constexpr char kTorchLibrary[] = "libtorch_cpu.so", kOwnLibrary[] = "libmemoir_interpose.so";
constexpr int kBindNow = 2;  // RTLD_NOW

// Of a torch, as its libraries and ours are named by it: 2.11.
struct TorchMinor {
  unsigned major, minor;
};

// From what `version.py` of a wheel or `build-version` of an archive says. False: it says no version.
bool ReadTorchMinor(const char* text, std::size_t size, TorchMinor* found);

// The loader's functions: this library may be linked with a libc that has them in another library.
struct Loader {
  void* (*open)(const char*, int);
  void* (*find)(void*, const char*);
  char* (*why)();
};
bool FindLoader(Loader* loader);

// What is there to load a tracker: the loaded torch's version, and the folder of this library.
struct TrackerPlace {
  Loader loader;
  TorchMinor torch;
  char folder[4000];
};

// False, with the cause in `problem` ("" where the process has no torch at all).
bool FindTrackerPlace(TrackerPlace* place, char* problem, std::size_t size);

// The tracker, whose functions the whole process can look up then. `only_loaded`: nullptr unless it is there already.
// nullptr, with the cause in `problem`: it is missing, or cannot be loaded.
void* OpenTracker(const TrackerPlace& place, bool only_loaded, char* problem, std::size_t size);

}  // namespace memoir

// For the headers that programs include (tracker/client/load.h): the tracker for the torch of this process, loaded
// where `load` is 1 and it is not yet. NULL, with one line (cause and what to do) in `message`, which is cut to `size`.
extern "C" MEMOIR_INTERPOSE_API void* memoir_tracker(int load, char* message, std::size_t size);

#endif  // INTERPOSE_START_TRACKER_LOAD_H_
