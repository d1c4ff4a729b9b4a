// The memory cgroup that limits this process, of version 1 or 2, in a container or outside.
//
// Of the process's group and those around it, as far as they are mounted, it is the one with the smallest limit: its
// killer comes first. Any thread once it is found.
#ifndef TRACKER_HOST_MEMORY_GROUP_H_
#define TRACKER_HOST_MEMORY_GROUP_H_

#include <cstdint>
#include <string>

#include "interpose/ring_record.h"

namespace memoir {

// Bytes; kNotKnown where the system does not say.
struct GroupMemory {
  std::uint64_t used_bytes = kNotKnown;         // charged to the group, page cache included
  std::uint64_t limit_bytes = kNotKnown;        // kNotKnown: none
  std::uint64_t reclaimable_bytes = kNotKnown;  // of these, files' pages that the kernel takes back before it kills
  std::uint64_t shared_bytes = kNotKnown;       // of these, /dev/shm and shared mappings
  std::uint64_t kills = kNotKnown;              // processes that its out-of-memory killer has killed so far
};

class MemoryGroup {
 public:
  // `root`: "" of this system; a test's own folder with proc/ and sys/ in it.
  static MemoryGroup Find(const std::string& root);
  bool is_known() const { return !folder_.empty(); }
  // Tells it from other groups of this boot; 0: not known.
  std::uint64_t id() const { return id_; }
  GroupMemory Read() const;
  std::uint64_t ReadUsed() const;

 private:
  std::string folder_;
  bool is_unified_ = false;  // version 2
  std::uint64_t id_ = 0;
};

}  // namespace memoir

#endif  // TRACKER_HOST_MEMORY_GROUP_H_
