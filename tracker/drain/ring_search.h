// Finds this user's rings whose process has ended. Each such ring occupies memory (36.5 MiB of /dev/shm) until
// memoir-drain has merged the ring into its capture.
//
// Reads only the name and the header of each ring file, and checks each field of the header. Any thread.
#ifndef TRACKER_DRAIN_RING_SEARCH_H_
#define TRACKER_DRAIN_RING_SEARCH_H_

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <string>

namespace memoir {

struct DeadRing {
  std::string path;
  ino_t inode = 0;
  std::uint64_t bytes = 0;  // bytes that the file system has allocated
  std::uint64_t pid = 0;
  // True if a process records into the ring or drains it, possibly in another pid namespace.
  bool is_locked = false;
  bool is_whole = false;  // the file has a complete header of this version of Memoir
  // Set only if `is_whole` is true:
  std::string capture_folder;
  std::uint64_t last_seen_ns = 0;  // realtime clock when the process's writer last read the ring, ns; 0: never
  // True if the ring's process ran since this boot of the machine, and in this pid namespace. Then it has certainly
  // ended, because this namespace has no process with its pid and start time.
  bool certainly_dead = false;
};

// Calls `visit` with each dead ring in `folder`, until `visit` returns false. The ring of a process that runs in
// another pid namespace is visited too; its `is_locked` is true.
void FindDeadRings(const std::string& folder, const std::function<bool(const DeadRing&)>& visit);

}  // namespace memoir

#endif  // TRACKER_DRAIN_RING_SEARCH_H_
