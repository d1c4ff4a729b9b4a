// Which thread a thread of OpenMP works for: the one whose parallel region it runs a part of. ThreadSlot::works_for has
// its number, from the first event of the thread on.
//
// Redirected is GOMP_parallel, by which code that GCC compiled begins a region; torch's wheels are. Threads of other
// pools (Clang's OpenMP, a program's own) work for nobody. libc only.
#ifndef INTERPOSE_PARALLEL_REGIONS_H_
#define INTERPOSE_PARALLEL_REGIONS_H_

#include "interpose/export.h"

namespace memoir {

// Follows the regions of all objects that are loaded now, for ever. Any thread, one at a time.
MEMOIR_INTERPOSE_API void FollowParallelRegions();

// Those of objects that were loaded since. Cheap when there are none; does nothing before FollowParallelRegions. Any
// thread.
MEMOIR_INTERPOSE_API void FollowParallelRegionsOfLateObjects();

}  // namespace memoir

#endif  // INTERPOSE_PARALLEL_REGIONS_H_
