#include "interpose/start/tracker_load.h"

#include <fcntl.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>

#include "interpose/imports/import_slots.h"
#include "interpose/start/loaded_library.h"
#include "interpose/system/own_files.h"
#include "interpose/system/private_file.h"

namespace memoir {
namespace {

constexpr int kNoLoad = 4;      // RTLD_NOLOAD
constexpr int kForAll = 0x100;  // RTLD_GLOBAL; lets the program look up the tracker's functions memoir_*

template <class Function>
Function Definition(const char* name) {
  return reinterpret_cast<Function>(const_cast<void*>(FindDefinition(name)));
}

// Reads the version from `file` in the parent folder of `folder`. False on failure.
bool ReadMinorBeside(const char* folder, const char* file, TorchMinor* found) {
  char path[4200], text[2048];
  std::snprintf(path, sizeof path, "%s/../%s", folder, file);
  ssize_t size = 0;
  InOwnFiles([&] {
    const int fd = OpenPrivateFile(path, O_RDONLY);
    if (fd < 0) return;
    size = read(fd, text, sizeof text);
    close(fd);
  });
  return size > 0 && ReadTorchMinor(text, static_cast<std::size_t>(size), found);
}

// Finds the version of torch. Since torch 2.9 the C interface returns the version; the version of an older torch is
// read from a file.
bool FindTorchMinor(const LoadedLibrary& torch, TorchMinor* found) {
  if (const auto version = Definition<std::uint64_t (*)()>("aoti_torch_abi_version"); version != nullptr) {
    const std::uint64_t number = version();
    *found = {static_cast<unsigned>(number >> 56), static_cast<unsigned>(number >> 48 & 0xff)};
    if (found->major >= 2) return true;
  }
  return torch.folder[0] != '\0' &&
         (ReadMinorBeside(torch.folder, "version.py", found) || ReadMinorBeside(torch.folder, "build-version", found));
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

bool FindLoader(LoaderFunctions* loader) {
  *loader = {Definition<void* (*)(const char*, int)>("dlopen"), Definition<void* (*)(void*, const char*)>("dlsym"),
             Definition<char* (*)()>("dlerror")};
  return loader->open != nullptr && loader->find != nullptr;
}

bool FindTrackerLocation(TrackerLocation* place, char* problem, std::size_t size) {
  LoadedLibrary torch, own;
  if (size > 0) *problem = '\0';
  if (!FindLoadedLibrary(kTorchLibrary, &torch) || !FindLoadedLibrary(kOwnLibrary, &own) || !FindLoader(&place->loader))
    return false;
  if (!FindTorchMinor(torch, &place->torch)) {
    std::snprintf(problem, size, "which version of torch this program has cannot be told; link the tracker for it");
    return false;
  }
  std::memcpy(place->folder, own.folder, sizeof place->folder);
  return true;
}

void* OpenTracker(const TrackerLocation& place, bool only_loaded, char* problem, std::size_t size) {
  char path[4200];
  const auto [major, minor] = place.torch;
  std::snprintf(path, sizeof path, "%s/libmemoir_tracker-torch%u.%u.so", place.folder, major, minor);
  if (access(path, R_OK) != 0) {
    std::snprintf(problem, size, "no tracker for torch %u.%u: %s is missing; build Memoir for that torch", major, minor,
                  path);
    return nullptr;
  }
  void* tracker = place.loader.open(path, kBindNow | kForAll | (only_loaded ? kNoLoad : 0));
  if (tracker != nullptr) return tracker;
  const char* why = place.loader.why == nullptr ? nullptr : place.loader.why();
  std::snprintf(problem, size, "the tracker cannot be loaded: %s", why == nullptr ? path : why);
  return nullptr;
}

}  // namespace memoir

void* memoir_tracker(int load, char* message, std::size_t size) {
  memoir::TrackerLocation place;
  if (memoir::FindTrackerLocation(&place, message, size)) return memoir::OpenTracker(place, load == 0, message, size);
  if (size > 0 && *message == '\0')
    std::snprintf(message, size, "this program has not loaded %s; link libtorch's shared libraries, or start later",
                  memoir::kTorchLibrary);
  return nullptr;
}
