// The start of a program without Python, under LD_PRELOAD: where libtorch is loaded when the program starts, and the
// environment asks for a recording (MEMOIR_ENABLE), the tracker for that torch is loaded before main and told to begin.
// Where the program loads libtorch later, that is done with its next look-up of a function (late_library.h).
//
//     the loader's work ─► our constructor ─► constructors of the program ─► tracker loaded, recording ─► main
//                                                          main ─► dlopen ─► dlsym: tracker loaded, recording
//
// In Python torch is loaded later, and the package sees to it; so it does where a program with libtorch imports torch
// in an interpreter of its own. libc only.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "interpose/import_slots.h"
#include "interpose/private_file.h"
#include "interpose/start/late_library.h"
#include "interpose/start/loaded_library.h"
#include "interpose/start/tracker_load.h"

namespace memoir {
namespace {

using Main = int (*)(int, char**, char**);
using StartOfLibc = int (*)(Main, int, char**, int (*)(), void (*)(), void (*)(), void*);

// Of the process, until main runs.
constinit Main program_main = nullptr;
constinit StartOfLibc start_of_libc = nullptr;

bool IsOn(const char* variable, bool otherwise) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return otherwise;
  for (const char* off : {"0", "false", "off", "no", "FALSE", "OFF", "NO", "False", "Off", "No"}) {
    if (std::strcmp(value, off) == 0) return false;
  }
  return true;
}

// For `memoir run`, which says it, or else here.
void SayNotRecorded(const char* cause) {
  const char* notes = std::getenv("MEMOIR_NOTES");
  char path[4200];
  if (notes != nullptr && *notes != '\0') {
    std::snprintf(path, sizeof path, "%s/.not-recorded.%d.unsaid", notes, static_cast<int>(getpid()));
    const int fd = OpenPrivateFile(path, O_WRONLY | O_CREAT | O_EXCL);
    const bool said = fd >= 0 && write(fd, cause, std::strlen(cause)) > 0;
    if (fd >= 0) close(fd);
    if (said) return;
  }
  std::fprintf(stderr, "memoir: not recording: %s\n", cause);
}

// The simulated device computes small values where torch can run on it.
void StartValues(const TrackerPlace& place) {
  Loaded cuda;
  if (FindDefinition("memoir_simulated_is_known") == nullptr || !IsOn("MEMOIR_SIM_VALUES", true)) return;
  if (!FindLoaded("libtorch_cuda.so", &cuda)) return;
  char path[4200], message[1024] = "";
  const auto [major, minor] = place.torch;
  std::snprintf(path, sizeof path, "%s/libmemoir_values-torch%u.%u.so", place.folder, major, minor);
  void* library = place.loader.open(path, kBindNow);
  const auto start =
      library == nullptr
          ? nullptr
          : reinterpret_cast<int (*)(char*, unsigned long long)>(place.loader.find(library, "memoir_values_start"));
  constexpr int kNotSimulated = 1;
  if (start != nullptr && start(message, sizeof message) <= kNotSimulated) return;
  std::fprintf(stderr, "memoir: the simulated GPU computes no values here, and every tensor holds zeros: %s\n",
               start == nullptr ? path : message);
}

void BeginRecording(const char* program) {
  TrackerPlace place;
  char problem[5000] = "";
  if (!FindTrackerPlace(&place, problem, sizeof problem)) {
    if (problem[0] != '\0') SayNotRecorded(problem);
    return;
  }
  StartValues(place);
  void* tracker = OpenTracker(place, false, problem, sizeof problem);
  if (tracker == nullptr) return SayNotRecorded(problem);
  const auto start = reinterpret_cast<void (*)(const char*)>(place.loader.find(tracker, "memoir_program_starts"));
  if (start != nullptr) start(program);
}

int MainInRecording(int count, char** arguments, char** environment) {
  const char* slash = count > 0 ? std::strrchr(arguments[0], '/') : nullptr;
  BeginRecording(count == 0 ? "" : slash == nullptr ? arguments[0] : slash + 1);
  return program_main(count, arguments, environment);
}

int StartProgram(Main given, int count, char** arguments, int (*begin)(), void (*end)(), void (*loader_end)(),
                 void* stack) {
  program_main = given;
  return start_of_libc(&MainInRecording, count, arguments, begin, end, loader_end, stack);
}

// Python's package sees to its torch.
bool HasPython() { return FindDefinition("Py_IsInitialized") != nullptr; }

void BeginLate() {
  if (HasPython()) return;
  BeginRecording(program_invocation_short_name);
  Loader loader;
  if (FindLoader(&loader) && loader.why != nullptr) loader.why();  // the program's look-up did not fail
}

// By this NVTX finds who follows its ranges, at the first one of each library. A profiler that is there has set it.
// Here alone: later other threads may be looking at the environment.
void LeadNvtxHere() {
  Loaded own;
  char path[4200];
  if (HasPython() || !FindLoaded(kOwnLibrary, &own) || own.folder[0] == '\0') return;
  std::snprintf(path, sizeof path, "%s/%s", own.folder, kOwnLibrary);
  setenv("NVTX_INJECTION64_PATH", path, 0);  // NOLINT(concurrency-mt-unsafe): before main there is one thread
}

// The program's own start calls libc's through a slot, which is filled by now and not read yet.
__attribute__((constructor)) void WaitForMain() {
  Loaded torch;
  if (!IsOn("MEMOIR_ENABLE", false)) return;
  if (!FindLoaded(kTorchLibrary, &torch)) {
    if (!HasPython()) AwaitLibrary(kTorchLibrary, &BeginLate);
    return;
  }
  const void* original = FindImported("__libc_start_main");
  if (original == nullptr) return;
  LeadNvtxHere();
  start_of_libc = reinterpret_cast<StartOfLibc>(const_cast<void*>(original));
  RedirectImports("__libc_start_main", original, reinterpret_cast<void*>(&StartProgram));
}

}  // namespace
}  // namespace memoir
