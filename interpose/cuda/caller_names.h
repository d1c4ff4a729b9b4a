// The file name of the object that a call came from, by its return address. Cached, for the loader is asked for each
// new address; under no lock of the loader's that its callers hold (dladdr takes one that dlopen keeps while it runs
// constructors).
//
// libc only. Any thread.
#ifndef INTERPOSE_CUDA_CALLER_NAMES_H_
#define INTERPOSE_CUDA_CALLER_NAMES_H_

#include <cstdint>

#include "interpose/ring_record.h"

namespace memoir {

struct LibraryName {
  char text[kMaxLibraryName];  // as DriverBlockRecord has it; "" where it cannot be told
};

LibraryName LibraryAt(const void* code);
LibraryName LibraryNamed(const char* name);

// With a turn at the loader: what was known is of objects that may be gone.
void ForgetCallersOfUnloaded(std::uint64_t unloaded_so_far);

}  // namespace memoir

#endif  // INTERPOSE_CUDA_CALLER_NAMES_H_
