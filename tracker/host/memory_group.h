// Finds and reads the memory cgroup (version 1 or 2) that limits this process, in a container or outside.
//
// Find looks at the process's group and at its ancestors, up to the mount point. It chooses the group with the smallest
// limit, because the out-of-memory killer of that group acts first. Any thread may use the object that Find returns.
#ifndef TRACKER_HOST_MEMORY_GROUP_H_
#define TRACKER_HOST_MEMORY_GROUP_H_

#include <cstdint>
#include <string>

#include "interpose/records/ring_record.h"

namespace memoir {

// The memory of a group, in bytes, and a number of processes. A value is kNotKnown if the system does not report it.
struct GroupMemory {
  std::uint64_t used_bytes = kNotKnown;   // memory that the kernel counts for the group, with the page cache
  std::uint64_t limit_bytes = kNotKnown;  // kNotKnown: no limit, or not reported
  // Part of `used_bytes`: pages of files that the kernel frees before it kills a process.
  std::uint64_t reclaimable_bytes = kNotKnown;
  std::uint64_t shared_bytes = kNotKnown;  // part of `used_bytes`: /dev/shm and shared mappings
  std::uint64_t kills = kNotKnown;         // number of processes that the group's out-of-memory killer has killed
};

class MemoryGroup {
 public:
  // `root`: "" for this system; tests pass a folder that contains proc/ and sys/.
  static MemoryGroup Find(const std::string& root);
  bool is_known() const { return !folder_.empty(); }
  // Distinguishes the group from all other groups since the machine booted; 0: unknown.
  std::uint64_t id() const { return id_; }
  GroupMemory Read() const;
  std::uint64_t ReadUsed() const;  // reads only GroupMemory::used_bytes

 private:
  std::string folder_;
  bool is_unified_ = false;  // true: a group of cgroups version 2
  std::uint64_t id_ = 0;
};

}  // namespace memoir

#endif  // TRACKER_HOST_MEMORY_GROUP_H_
