#include "interpose/start/program_start.h"

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

namespace memoir {
namespace {

constexpr int kBindNow = 2, kForAll = 0x100;  // RTLD_NOW, RTLD_GLOBAL: memoir_* can be looked up by the program then

using Main = int (*)(int, char**, char**);
using StartOfLibc = int (*)(Main, int, char**, int (*)(), void (*)(), void (*)(), void*);
using Open = void* (*)(const char*, int);
using Find = void* (*)(void*, const char*);
using Why = char* (*)();

constexpr char kTorch[] = "libtorch_cpu.so", kOwn[] = "libmemoir_interpose.so";

// Of the process, until main runs.
constinit Main program_main = nullptr;
constinit StartOfLibc start_of_libc = nullptr;

template <class Function>
Function Definition(const char* name) {
  return reinterpret_cast<Function>(const_cast<void*>(FindDefinition(name)));
}

bool IsOn(const char* variable, bool otherwise) {
  const char* value = std::getenv(variable);
  if (value == nullptr || *value == '\0') return otherwise;
  for (const char* off : {"0", "false", "off", "no", "FALSE", "OFF", "NO", "False", "Off", "No"}) {
    if (std::strcmp(value, off) == 0) return false;
  }
  return true;
}

bool ReadMinorBeside(const char* folder, const char* file, TorchMinor* found) {
  char path[4200], text[2048];
  std::snprintf(path, sizeof path, "%s/../%s", folder, file);
  const int fd = OpenPrivateFile(path, O_RDONLY);
  if (fd < 0) return false;
  const ssize_t size = read(fd, text, sizeof text);
  close(fd);
  return size > 0 && ReadTorchMinor(text, static_cast<std::size_t>(size), found);
}

// A torch since 2.9 says it itself, to whoever calls it through its C interface.
bool FindTorchMinor(const Loaded& torch, TorchMinor* found) {
  if (const auto version = Definition<std::uint64_t (*)()>("aoti_torch_abi_version"); version != nullptr) {
    const std::uint64_t number = version();
    *found = {static_cast<unsigned>(number >> 56), static_cast<unsigned>(number >> 48 & 0xff)};
    if (found->major >= 2) return true;
  }
  return torch.folder[0] != '\0' &&
         (ReadMinorBeside(torch.folder, "version.py", found) || ReadMinorBeside(torch.folder, "build-version", found));
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

struct Loader {
  Open open;
  Find find;
  Why why;
};

// The simulated device computes small values where torch can run on it.
void StartValues(const Loader& loader, const char* folder, TorchMinor torch) {
  Loaded cuda;
  if (FindDefinition("memoir_simulated_is_known") == nullptr || !IsOn("MEMOIR_SIM_VALUES", true)) return;
  if (!FindLoaded("libtorch_cuda.so", &cuda)) return;
  char path[4200], message[1024] = "";
  std::snprintf(path, sizeof path, "%s/libmemoir_values-torch%u.%u.so", folder, torch.major, torch.minor);
  void* library = loader.open(path, kBindNow);
  const auto start =
      library == nullptr
          ? nullptr
          : reinterpret_cast<int (*)(char*, unsigned long long)>(loader.find(library, "memoir_values_start"));
  constexpr int kNotSimulated = 1;
  if (start != nullptr && start(message, sizeof message) <= kNotSimulated) return;
  std::fprintf(stderr, "memoir: the simulated GPU computes no values here, and every tensor holds zeros: %s\n",
               start == nullptr ? path : message);
}

// nullptr, with the cause said: it is not there, or cannot be loaded.
void* OpenTracker(const Loader& loader, const char* folder, TorchMinor torch) {
  char path[4200], cause[5000];
  std::snprintf(path, sizeof path, "%s/libmemoir_tracker-torch%u.%u.so", folder, torch.major, torch.minor);
  if (access(path, R_OK) != 0) {
    std::snprintf(cause, sizeof cause, "no tracker for torch %u.%u: %s is missing; build Memoir for that torch",
                  torch.major, torch.minor, path);
    SayNotRecorded(cause);
    return nullptr;
  }
  void* tracker = loader.open(path, kBindNow | kForAll);
  if (tracker != nullptr) return tracker;
  const char* why = loader.why == nullptr ? nullptr : loader.why();
  std::snprintf(cause, sizeof cause, "the tracker cannot be loaded: %s", why == nullptr ? path : why);
  SayNotRecorded(cause);
  return nullptr;
}

void BeginRecording(const char* program) {
  Loaded torch, own;
  TorchMinor version{};
  if (!FindLoaded(kTorch, &torch) || !FindLoaded(kOwn, &own)) return;
  const Loader loader = {Definition<Open>("dlopen"), Definition<Find>("dlsym"), Definition<Why>("dlerror")};
  if (loader.open == nullptr || loader.find == nullptr) return;
  if (!FindTorchMinor(torch, &version))
    return SayNotRecorded("which version of torch this program has cannot be told; call memoir_start in it");
  StartValues(loader, own.folder, version);
  void* tracker = OpenTracker(loader, own.folder, version);
  if (tracker == nullptr) return;
  const auto start = reinterpret_cast<void (*)(const char*)>(loader.find(tracker, "memoir_program_starts"));
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
  if (const auto forget = Definition<Why>("dlerror"); forget != nullptr)
    forget();  // the program's look-up did not fail
}

// By this NVTX finds who follows its ranges, at the first one of each library. A profiler that is there has set it.
// Here alone: later other threads may be looking at the environment.
void LeadNvtxHere() {
  Loaded own;
  char path[4200];
  if (HasPython() || !FindLoaded(kOwn, &own) || own.folder[0] == '\0') return;
  std::snprintf(path, sizeof path, "%s/%s", own.folder, kOwn);
  setenv("NVTX_INJECTION64_PATH", path, 0);  // NOLINT(concurrency-mt-unsafe): before main there is one thread
}

// The program's own start calls libc's through a slot, which is filled by now and not read yet.
__attribute__((constructor)) void WaitForMain() {
  Loaded torch;
  if (!IsOn("MEMOIR_ENABLE", false)) return;
  if (!FindLoaded(kTorch, &torch)) {
    if (!HasPython()) AwaitLibrary(kTorch, &BeginLate);
    return;
  }
  const void* original = FindImported("__libc_start_main");
  if (original == nullptr) return;
  LeadNvtxHere();
  start_of_libc = reinterpret_cast<StartOfLibc>(const_cast<void*>(original));
  RedirectImports("__libc_start_main", original, reinterpret_cast<void*>(&StartProgram));
}

}  // namespace

bool ReadTorchMinor(const char* text, std::size_t size, TorchMinor* found) {
  constexpr char kInPython[] = "__version__ = '";
  const auto* begin = static_cast<const char*>(memmem(text, size, kInPython, sizeof kInPython - 1));
  const char* end = text + size;
  const char* at = begin == nullptr ? text : begin + sizeof kInPython - 1;
  const auto number = [&](unsigned* value) {
    const char* first = at;
    for (*value = 0; at < end && *at >= '0' && *at <= '9' && at - first < 4; ++at)
      *value = *value * 10 + static_cast<unsigned>(*at - '0');
    return at != first;
  };
  if (!number(&found->major) || at == end || *at != '.') return false;
  ++at;
  return number(&found->minor) && found->major >= 1;
}

}  // namespace memoir
