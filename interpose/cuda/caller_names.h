// Finds the file name of the object that contains a return address. Results are cached, so that the loader's list is
// read only once for each address. dladdr is not used: it would wait for a lock that dlopen holds while constructors
// run, and a constructor may wait for a lock that the caller holds.
//
// This code needs no library except libc. Its functions may be called on any thread.
#ifndef INTERPOSE_CUDA_CALLER_NAMES_H_
#define INTERPOSE_CUDA_CALLER_NAMES_H_

#include <cstdint>

#include "interpose/records/ring_record.h"

namespace memoir {

struct LibraryName {
  char text[kMaxLibraryName];  // as in DriverBlockRecord; "" if unknown
};

// Returns the file name of the object that contains the address `code`. Empty if unknown.
LibraryName LibraryAt(const void* code);
// Returns the file name at the end of the path `name`.
LibraryName LibraryNamed(const char* name);

// Empties the cache if objects were unloaded since the last call, because cached addresses may belong to them.
// `unloaded_so_far`: count of unloaded objects (import_slots.h). Call it while holding a LoaderListGuard.
void ForgetCallersOfUnloaded(std::uint64_t unloaded_so_far);

}  // namespace memoir

#endif  // INTERPOSE_CUDA_CALLER_NAMES_H_
