// Merges the rings of dead processes into their captures while this process records. An unmerged ring occupies 36.5 MiB
// of /dev/shm, and a program whose forked children end with os._exit leaves one ring per child.
//
//     at the start and every few seconds ──► a dead ring in the folder of this process's ring ──► memoir-drain
//
// This process runs only one memoir-drain at a time.
//
// Rings of this capture are merged at once. Rings of other captures are merged after their processes have been dead for
// a minute, because the program that started these processes may be about to merge the rings. Call the functions inside
// of RunInOwnFiles (interpose/system/own_files.h).
#ifndef TRACKER_SESSION_DEAD_RING_DRAINER_H_
#define TRACKER_SESSION_DEAD_RING_DRAINER_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tracker/drain/drain_process.h"
#include "tracker/drain/ring_search.h"

namespace memoir {

class DeadRingDrainer {
 public:
  // `ring`: the path of this process's ring. `drain`: the path of memoir-drain; "": no ring is merged.
  DeadRingDrainer(const std::string& ring, std::string capture_folder, const std::string& drain);

  // Starts memoir-drain if a ring is waiting and memoir-drain is not running. Called whenever the writer reads the
  // ring; acts only every few seconds. Never throws.
  void Look() noexcept;
  // Waits at most a few seconds for a running memoir-drain, so that a later reader finds the capture complete. Called
  // after the writer has ended.
  void Finish() noexcept;

 private:
  bool IsForUs(const DeadRing& ring) const;
  void StartNext();

  std::string folder_;
  std::string capture_folder_;
  DrainProcess process_;
  bool can_drain_;
  std::uint64_t look_at_ns_ = 0;
  ino_t at_work_ = 0;           // inode of the ring that memoir-drain merges
  std::vector<ino_t> refused_;  // inodes of rings that are still in use, or whose captures cannot be written
};

}  // namespace memoir

#endif  // TRACKER_SESSION_DEAD_RING_DRAINER_H_
