// A library of the process by the start of its file's name, and the folder that it lies in. libc only. Any thread, but
// not in a signal handler.
#ifndef INTERPOSE_START_LOADED_LIBRARY_H_
#define INTERPOSE_START_LOADED_LIBRARY_H_

namespace memoir {

struct Loaded {
  const char* name;
  char folder[4000];  // "" where the loader does not say it
  bool found;
};

bool FindLoaded(const char* name, Loaded* loaded);

}  // namespace memoir

#endif  // INTERPOSE_START_LOADED_LIBRARY_H_
