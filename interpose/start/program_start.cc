// Starts the recording of a program without Python, under LD_PRELOAD. If libtorch is loaded when the program starts,
// and the environment requests a recording (MEMOIR_ENABLE), the tracker for this libtorch is loaded before main and
// starts the recording. If the program loads libtorch later, the tracker is loaded when the program next looks up a
// function (late_library.h).
//
//     the loader's work ─► WaitForMain ─► constructors of the program ─► tracker loaded, recording ─► main
//                                                          main ─► dlopen ─► dlsym: tracker loaded, recording
//
// In a Python program, the package `memoir` starts the recording when torch is imported. The package also does this for
// a C++ program that embeds Python and loads libtorch only after its start. This code needs no library except libc.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <initializer_list>

#include "interpose/imports/import_slots.h"
#include "interpose/start/late_library.h"
#include "interpose/start/loaded_library.h"
#include "interpose/start/tracker_load.h"
#include "interpose/system/own_files.h"
#include "interpose/system/private_file.h"

namespace memoir {
namespace {

using Main = int (*)(int, char**, char**);
using StartOfLibc = int (*)(Main, int, char**, int (*)(), void (*)(), void (*)(), void*);

constinit Main program_main = nullptr;          // the program's main
constinit StartOfLibc start_of_libc = nullptr;  // libc's __libc_start_main

bool IsOn(const char* variable, bool otherwise) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return otherwise;
  for (const char* off : {"0", "false", "off", "no", "FALSE", "OFF", "NO", "False", "Off", "No"}) {
    if (std::strcmp(value, off) == 0) return false;
  }
  return true;
}

// Writes the cause into a note that `memoir run` prints. If the note cannot be written, prints the cause to standard
// error.
void ReportNotRecorded(const char* cause) {
  const char* notes = std::getenv("MEMOIR_NOTES");
  char path[4200];
  if (notes != nullptr && *notes != '\0') {
    std::snprintf(path, sizeof path, "%s/.not-recorded.%d.unsaid", notes, static_cast<int>(getpid()));
    bool was_written = false;
    InOwnFiles([&] {
      const int fd = OpenPrivateFile(path, O_WRONLY | O_CREAT | O_EXCL);
      was_written = fd >= 0 && write(fd, cause, std::strlen(cause)) > 0;
      if (fd >= 0) close(fd);
    });
    if (was_written) return;
  }
  std::fprintf(stderr, "memoir: not recording: %s\n", cause);
}

// If the process has a simulated device and torch has CUDA, loads the library that computes values of small tensors on
// that device.
void StartValues(const TrackerLocation& place) {
  LoadedLibrary cuda;
  if (FindDefinition("memoir_simulated_is_known") == nullptr || !IsOn("MEMOIR_SIM_VALUES", true)) return;
  if (!FindLoadedLibrary("libtorch_cuda.so", &cuda)) return;
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
  TrackerLocation place;
  char problem[5000] = "";
  if (!FindTrackerLocation(&place, problem, sizeof problem)) {
    if (problem[0] != '\0') ReportNotRecorded(problem);
    return;
  }
  StartValues(place);
  void* tracker = OpenTracker(place, false, problem, sizeof problem);
  if (tracker == nullptr) return ReportNotRecorded(problem);
  const auto start = reinterpret_cast<void (*)(const char*)>(place.loader.find(tracker, "memoir_program_starts"));
  if (start != nullptr) start(program);
}

// Starts the recording, and then runs the program's main. libc calls this function in place of main.
int MainInRecording(int count, char** arguments, char** environment) {
  const char* slash = count > 0 ? std::strrchr(arguments[0], '/') : nullptr;
  BeginRecording(count == 0 ? "" : slash == nullptr ? arguments[0] : slash + 1);
  return program_main(count, arguments, environment);
}

// Makes libc call MainInRecording in place of main. The program's start code calls this function in place of
// __libc_start_main.
int StartProgram(Main given, int count, char** arguments, int (*begin)(), void (*end)(), void (*loader_end)(),
                 void* stack) {
  program_main = given;
  return start_of_libc(&MainInRecording, count, arguments, begin, end, loader_end, stack);
}

// Whether the process has Python. If so, the package `memoir` starts the recording, not this file.
bool HasPython() { return FindDefinition("Py_IsInitialized") != nullptr; }

// Starts the recording in the middle of the program, inside the first look-up after libtorch was loaded.
void BeginLate() {
  if (HasPython()) return;
  BeginRecording(program_invocation_short_name);
  LoaderFunctions loader;
  // Clears the errors of BeginRecording from dlerror, because the program's own look-up did not fail.
  if (FindLoader(&loader) && loader.why != nullptr) loader.why();
}

// Sets NVTX_INJECTION64_PATH to this library's path, so that NVTX sends its ranges here (nvtx_injection.h). NVTX reads
// the variable at the first range of each library. Keeps the value if a profiler has set the variable already. The
// variable is set only before main, because later another thread may be reading the environment.
void LeadNvtxHere() {
  LoadedLibrary own;
  char path[4200];
  if (HasPython() || !FindLoadedLibrary(kOwnLibrary, &own) || own.folder[0] == '\0') return;
  std::snprintf(path, sizeof path, "%s/%s", own.folder, kOwnLibrary);
  setenv("NVTX_INJECTION64_PATH", path, 0);  // NOLINT(concurrency-mt-unsafe): before main there is one thread
}

// Redirects the import slot through which the program's start code calls __libc_start_main. The loader has filled this
// slot, and the program has not used it yet. If libtorch is not loaded yet, only registers BeginLate, which runs when
// libtorch has been loaded (late_library.h).
__attribute__((constructor)) void WaitForMain() {
  LoadedLibrary torch;
  if (!IsOn("MEMOIR_ENABLE", false)) return;
  if (!FindLoadedLibrary(kTorchLibrary, &torch)) {
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
