// What glibc's malloc has of the system, in use and not.
#ifndef TRACKER_HOST_MALLOC_STATE_H_
#define TRACKER_HOST_MALLOC_STATE_H_

#include <cstdint>

#include "interpose/ring_record.h"

namespace memoir {

// Bytes; kNotKnown: malloc is another library's, or glibc is older than 2.33.
struct MallocState {
  std::uint64_t used_bytes = kNotKnown;
  std::uint64_t free_bytes = kNotKnown;  // given back by the program, and kept by malloc
};
// Walks the free chunks of each arena with its lock taken: of a heap in a million pieces that is milliseconds.
MallocState ReadMallocState();

}  // namespace memoir

#endif  // TRACKER_HOST_MALLOC_STATE_H_
