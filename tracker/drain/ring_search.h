// Finds the rings of this user whose process is gone: each keeps its room in memory (36.5 MiB of /dev/shm) until
// memoir-drain has put what it holds into the capture.
//
// Only looks. By the file's name, and by what its header says of itself, of which nothing is taken on trust. Any
// thread.
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
  std::uint64_t bytes = 0;  // of the file system's
  std::uint64_t pid = 0;
  bool is_locked = false;  // by a process that records into it or drains it, seen from here or not
  bool is_whole = false;  // the header is there, and of this version of Memoir
  // Where it is whole:
  std::string capture_folder;
  std::uint64_t last_seen_ns = 0;  // of the realtime clock, when its writer last looked; 0: never
  bool same_view = false;          // it was of this boot and pid namespace: that its process is gone is certain
};

// Calls `visit` with each of `folder`, until it returns false. A ring whose process runs in another pid namespace looks
// dead here, but for the lock on it.
void FindDeadRings(const std::string& folder, const std::function<bool(const DeadRing&)>& visit);

}  // namespace memoir

#endif  // TRACKER_DRAIN_RING_SEARCH_H_
