// Finds the file name of the object that contains a return address. Results are cached, because each new address
// requires reading the loader's list. dladdr is not used: it would wait for a lock that dlopen holds while constructors
// run, and a constructor may wait for a lock that the caller holds.
//
// libc only. Any thread.
#ifndef INTERPOSE_CUDA_CALLER_NAMES_H_
#define INTERPOSE_CUDA_CALLER_NAMES_H_

#include <cstdint>

#include "interpose/records/ring_record.h"

namespace memoir {

struct LibraryName {
  char text[kMaxLibraryName];  // as in DriverBlockRecord; "" if unknown
};

LibraryName LibraryAt(const void* code);
// Returns the file name at the end of the path `name`.
LibraryName LibraryNamed(const char* name);

// Empties the cache if objects were unloaded, because cached addresses may belong to them. Call it while holding a
// LoaderListGuard.
void ForgetCallersOfUnloaded(std::uint64_t unloaded_so_far);

}  // namespace memoir

#endif  // INTERPOSE_CUDA_CALLER_NAMES_H_
