// Appends what the ring of a dead process still holds to its capture, then removes the ring.
#ifndef TRACKER_DRAIN_DRAIN_H_
#define TRACKER_DRAIN_DRAIN_H_

#include <string>

namespace memoir {

// "" when it is done, or was before (the ring is not there any more), else one line that says what is wrong; the ring
// is then still there and can be drained again.
std::string DrainRing(const std::string& ring_path);

}  // namespace memoir

#endif  // TRACKER_DRAIN_DRAIN_H_
