// What a process and those it started have in the host's memory, as /proc says.
//
// Any thread. Bytes; kNotKnown (all ones) where the system does not say.
#ifndef TRACKER_HOST_PROCESS_MEMORY_H_
#define TRACKER_HOST_PROCESS_MEMORY_H_

#include <cstdint>
#include <string>

#include "interpose/ring_record.h"

namespace memoir {

// Resident: the three are its RSS. proc(5), /proc/PID/status.
struct ProcessMemory {
  std::uint64_t anonymous_bytes = kNotKnown;  // heap, stacks, private mappings that were written to
  std::uint64_t shared_bytes = kNotKnown;     // /dev/shm, shared anonymous mappings
  std::uint64_t file_bytes = kNotKnown;       // of mapped files: libraries, data
  std::uint64_t swap_bytes = kNotKnown;
};

// `process`: its folder, such as "/proc/self". Some ten microseconds.
ProcessMemory ReadProcessMemory(const std::string& process);
// PSS: pages that it shares with others count in parts. The kernel walks all pages of the process for it, with the
// mappings locked: a millisecond for each 100 MiB or so.
std::uint64_t ReadProportionalBytes(const std::string& process);

// Of all processes that descend from one: workers of data loaders, mostly.
struct ChildrenMemory {
  std::uint64_t count = kNotKnown;
  std::uint64_t anonymous_bytes = kNotKnown;  // what only they have; kNotKnown: of none of them
};
// Looks at all processes of `proc`, such as "/proc".
ChildrenMemory ReadChildrenMemory(const std::string& proc, std::uint64_t pid);

}  // namespace memoir

#endif  // TRACKER_HOST_PROCESS_MEMORY_H_
