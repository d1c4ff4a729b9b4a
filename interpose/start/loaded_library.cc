#include "interpose/start/loaded_library.h"

#include <link.h>

#include <cstring>

namespace memoir {
namespace {

// A callback of dl_iterate_phdr: if the object's file name matches, stores its folder and ends the iteration.
int LookAt(dl_phdr_info* info, std::size_t, void* context) {
  LoadedLibrary& loaded = *static_cast<LoadedLibrary*>(context);
  const char* slash = std::strrchr(info->dlpi_name, '/');
  const char* file = slash == nullptr ? info->dlpi_name : slash + 1;
  if (std::strncmp(file, loaded.name, std::strlen(loaded.name)) != 0) return 0;
  loaded.found = true;
  const std::size_t length = slash == nullptr ? 0 : static_cast<std::size_t>(slash - info->dlpi_name);
  if (length < sizeof loaded.folder) std::memcpy(loaded.folder, info->dlpi_name, length);
  return 1;
}

}  // namespace

bool FindLoadedLibrary(const char* name, LoadedLibrary* loaded) {
  *loaded = LoadedLibrary{};
  loaded->name = name;
  dl_iterate_phdr(&LookAt, loaded);
  return loaded->found;
}

}  // namespace memoir
