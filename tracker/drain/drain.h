// Appends what the ring of a dead process still holds to its capture, then removes the ring.
#ifndef TRACKER_DRAIN_DRAIN_H_
#define TRACKER_DRAIN_DRAIN_H_

#include <string>

namespace memoir {

// What becomes of a ring whose capture's folder is gone.
enum class WithoutCapture { kKeep, kRemove };

// "" when it is done, or was before (the ring is not there any more), else one line that says what is wrong; the ring
// is then still there and can be drained again. Where another drainer is at it, waits for that, 20 s at most.
std::string DrainRing(const std::string& ring_path, WithoutCapture without);

}  // namespace memoir

#endif  // TRACKER_DRAIN_DRAIN_H_
