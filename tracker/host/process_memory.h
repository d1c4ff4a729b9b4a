// Host memory of a process and its descendants, from /proc.
//
// Any thread. Sizes are bytes. A number is kNotKnown (all ones) if the system does not report it.
#ifndef TRACKER_HOST_PROCESS_MEMORY_H_
#define TRACKER_HOST_PROCESS_MEMORY_H_

#include <cstdint>
#include <string>

#include "interpose/records/ring_record.h"

namespace memoir {

// Resident bytes by kind, whose sum is the RSS, and bytes in swap. From /proc/PID/status (proc(5)).
struct ProcessMemory {
  std::uint64_t anonymous_bytes = kNotKnown;  // heap, stacks, private mappings that were written to
  std::uint64_t shared_bytes = kNotKnown;     // /dev/shm, shared anonymous mappings
  std::uint64_t file_bytes = kNotKnown;       // pages of mapped files: libraries, data
  std::uint64_t swap_bytes = kNotKnown;
};

// Reads the memory of a process. `process`: the folder of the process, such as "/proc/self". Takes some ten
// microseconds.
ProcessMemory ReadProcessMemory(const std::string& process);
// Returns the PSS (proportional set size), in which the bytes of each page are divided by the number of processes that
// share the page. The kernel walks all pages of the process and locks the process's mappings, for about a millisecond
// per 100 MiB.
std::uint64_t ReadProportionalBytes(const std::string& process);

// The memory of all descendants of a process, usually workers of data loaders.
struct ChildrenMemory {
  std::uint64_t count = kNotKnown;
  // Sum over all descendants whose memory is known. kNotKnown if it is known for no descendant.
  std::uint64_t anonymous_bytes = kNotKnown;
};
// Reads all processes in the folder `proc`, such as "/proc". `pid`: the process whose descendants are counted.
ChildrenMemory ReadChildrenMemory(const std::string& proc, std::uint64_t pid);

}  // namespace memoir

#endif  // TRACKER_HOST_PROCESS_MEMORY_H_
