// Used and free bytes of glibc's malloc.
#ifndef TRACKER_HOST_MALLOC_STATE_H_
#define TRACKER_HOST_MALLOC_STATE_H_

#include <cstdint>

#include "interpose/records/ring_record.h"

namespace memoir {

// Bytes; kNotKnown if the program uses another malloc than glibc's, or if glibc is older than 2.33.
struct MallocState {
  std::uint64_t used_bytes = kNotKnown;
  std::uint64_t free_bytes = kNotKnown;  // freed by the program, and kept by malloc
};
// Calls mallinfo2, which takes the lock of each of malloc's arenas and walks the arena's free chunks. This takes
// milliseconds for a heap of a million chunks.
MallocState ReadMallocState();

}  // namespace memoir

#endif  // TRACKER_HOST_MALLOC_STATE_H_
