// Finds the torch that the process has loaded, and loads the tracker for its version from the folder of
// libmemoir_interpose.so. Used at the start of a program (program_start.cc), and by programs that start recordings
// themselves (memoir_tracker). libc only. Any thread, but not in a signal handler.
#ifndef INTERPOSE_START_TRACKER_LOAD_H_
#define INTERPOSE_START_TRACKER_LOAD_H_

#include <cstddef>

#include "interpose/system/export.h"

namespace memoir {

inline constexpr char kTorchLibrary[] = "libtorch_cpu.so", kOwnLibrary[] = "libmemoir_interpose.so";
constexpr int kBindNow = 2;  // RTLD_NOW

// A minor version of torch, such as 2.11. The file name of a tracker contains it.
struct TorchMinor {
  unsigned major, minor;
};

// Finds the version in `text`, the content of `version.py` of a wheel or of `build-version` of an archive. False if
// `text` contains no version.
bool ReadTorchMinor(const char* text, std::size_t size, TorchMinor* found);

// Functions of the loader. Memoir looks them up at run time, because some libcs have them in a separate library.
struct LoaderFunctions {
  void* (*open)(const char*, int);    // dlopen
  void* (*find)(void*, const char*);  // dlsym
  char* (*why)();                     // dlerror; nullptr: not found
};
bool FindLoader(LoaderFunctions* loader);

// The inputs for loading a tracker: the loader's functions, the loaded torch's version, and this library's folder.
struct TrackerLocation {
  LoaderFunctions loader;
  TorchMinor torch;
  char folder[4000];
};

// Fills `place`. False on failure, with the cause in `problem`. The cause is "" if torch, this library or the loader's
// functions are not found.
bool FindTrackerLocation(TrackerLocation* place, char* problem, std::size_t size);

// Loads the tracker, makes its functions visible to the whole process, and returns its handle. With `only_loaded`,
// returns the tracker only if it is already loaded. nullptr with the cause in `problem` if the tracker is missing or
// cannot be loaded.
void* OpenTracker(const TrackerLocation& place, bool only_loaded, char* problem, std::size_t size);

}  // namespace memoir

// For the headers that programs include (tracker/client/load.h): returns the tracker for this process's torch, and
// loads it first unless `load` is 0. On failure returns NULL and writes one line (cause and remedy), cut to `size`
// bytes, into `message`.
extern "C" MEMOIR_INTERPOSE_API void* memoir_tracker(int load, char* message, std::size_t size);

#endif  // INTERPOSE_START_TRACKER_LOAD_H_
