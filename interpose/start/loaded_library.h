// Finds a loaded library by the beginning of its file name, and the folder that contains it. This code needs no library
// except libc. It may be called on any thread, but not in a signal handler.
#ifndef INTERPOSE_START_LOADED_LIBRARY_H_
#define INTERPOSE_START_LOADED_LIBRARY_H_

namespace memoir {

struct LoadedLibrary {
  const char* name;   // the beginning of the file name, as the caller passed it
  char folder[4000];  // "" if unknown
  bool found;
};

// Fills `loaded` with the first library whose file name begins with `name`. False if no loaded library matches.
bool FindLoadedLibrary(const char* name, LoadedLibrary* loaded);

}  // namespace memoir

#endif  // INTERPOSE_START_LOADED_LIBRARY_H_
