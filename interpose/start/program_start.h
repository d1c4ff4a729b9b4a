// The start of a program without Python, under LD_PRELOAD: where libtorch is loaded when the program starts, and the
// environment asks for a recording (MEMOIR_ENABLE), the tracker for that torch is loaded before main and told to begin.
// Where the program loads libtorch later, that is done with its next look-up of a function (late_library.h).
//
//     the loader's work ─► our constructor ─► constructors of the program ─► tracker loaded, recording ─► main
//                                                          main ─► dlopen ─► dlsym: tracker loaded, recording
//
// In Python torch is loaded later, and the package sees to it; so it does where a program with libtorch imports torch
// in an interpreter of its own. libc only.
#ifndef INTERPOSE_START_PROGRAM_START_H_
#define INTERPOSE_START_PROGRAM_START_H_

#include <cstddef>
#include <cstdint>

namespace memoir {

// Of a torch, as its libraries and ours are named by it: 2.11.
struct TorchMinor {
  unsigned major, minor;
};

// From what `version.py` of a wheel or `build-version` of an archive says. False: it says no version.
bool ReadTorchMinor(const char* text, std::size_t size, TorchMinor* found);

}  // namespace memoir

#endif  // INTERPOSE_START_PROGRAM_START_H_
