// Finds the torch that the process has loaded, and loads the tracker for its version from the folder of
// libmemoir_interpose.so. program_start.cc uses this code when a program starts. Programs that start recordings
// themselves use it through memoir_tracker. It needs no library except libc, and may be called on any thread, but not
// in a signal handler.
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

// Finds the version of torch in `text`: the content of the file `version.py` of a Python wheel, or of the file
// `build-version` of a libtorch archive. False if `text` contains no version.
bool ReadTorchMinor(const char* text, std::size_t size, TorchMinor* found);

// Functions of the loader. Memoir looks them up at run time, because some libcs have them in a separate library.
struct LoaderFunctions {
  void* (*open)(const char*, int);    // dlopen
  void* (*find)(void*, const char*);  // dlsym
  char* (*why)();                     // dlerror; nullptr: not found
};
// Fills `loader`. False if dlopen or dlsym is not found.
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

// For the headers that programs include (tracker/client/load.h): returns the handle of the tracker for this process's
// torch. Loads the tracker first unless `load` is 0; with 0, an unloaded tracker is a failure. On failure returns NULL
// and writes one line (cause and remedy), cut to `size` bytes, into `message`.
extern "C" MEMOIR_INTERPOSE_API void* memoir_tracker(int load, char* message, std::size_t size);

#endif  // INTERPOSE_START_TRACKER_LOAD_H_
