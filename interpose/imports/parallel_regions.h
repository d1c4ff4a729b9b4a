// Finds the thread that an OpenMP worker thread works for: the thread that began the parallel region. The worker's
// ThreadSlot::works_for contains the number of that thread, from the worker's first event on.
//
// Redirects GOMP_parallel, which code compiled by GCC calls to begin a region; torch's wheels are compiled by GCC. For
// other worker threads (of Clang's OpenMP, of the program) works_for stays 0.
//
// This code needs no library except libc.
#ifndef INTERPOSE_IMPORTS_PARALLEL_REGIONS_H_
#define INTERPOSE_IMPORTS_PARALLEL_REGIONS_H_

#include "interpose/system/export.h"

namespace memoir {

// Redirects the calls of GOMP_parallel in all objects that are loaded now. These calls stay redirected until the
// process ends. May be called on any thread, but not on two threads at once.
MEMOIR_INTERPOSE_API void FollowParallelRegions();

// Redirects the calls of GOMP_parallel in the objects that were loaded since the last call of this function. Cheap if
// no object was loaded. Does nothing before FollowParallelRegions. May be called on any thread.
MEMOIR_INTERPOSE_API void FollowParallelRegionsOfLateObjects();

}  // namespace memoir

#endif  // INTERPOSE_IMPORTS_PARALLEL_REGIONS_H_
