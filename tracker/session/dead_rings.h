// Has the rings of processes that died put into their captures while this one records: each keeps 36.5 MiB of /dev/shm
// until then, and a program whose forked children end by os._exit leaves one with each.
//
//     at start and every few seconds ──► a dead one in the folder of this process's ring ──► memoir-drain, beside the
//     program, one at a time
//
// Those of this capture at once; those of others when they have been dead for a minute, for whoever started them may be
// about to do the same. On the writer's thread, but for Finish.
#ifndef TRACKER_SESSION_DEAD_RINGS_H_
#define TRACKER_SESSION_DEAD_RINGS_H_

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

#include "tracker/drain/drain_process.h"
#include "tracker/drain/ring_search.h"

namespace memoir {

class DeadRings {
 public:
  // `ring`: the path of this process's own. `drain`: of memoir-drain; "": nothing is done.
  DeadRings(const std::string& ring, std::string capture_folder, const std::string& drain);

  // With each of the writer's looks; does something only now and then. Never throws.
  void Look() noexcept;
  // When the writer is gone: lets the one that is at work end, a few seconds at most, so that who reads the capture
  // next finds it whole.
  void Finish() noexcept;

 private:
  bool IsForUs(const DeadRing& ring) const;
  void StartNext();

  std::string folder_;
  std::string capture_folder_;
  DrainProcess process_;
  bool can_drain_;
  std::uint64_t look_at_ns_ = 0;
  ino_t at_work_ = 0;
  std::vector<ino_t> refused_;  // in use after all, or their captures cannot be written
};

}  // namespace memoir

#endif  // TRACKER_SESSION_DEAD_RINGS_H_
