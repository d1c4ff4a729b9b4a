// Appends the records that are left in the ring of a dead process to the process's capture, then removes the ring.
#ifndef TRACKER_DRAIN_DRAIN_H_
#define TRACKER_DRAIN_DRAIN_H_

#include <cstdint>
#include <string>

namespace memoir {

// Whether to keep or to remove a ring if the folder of its capture no longer exists.
enum class WithoutCapture { kKeep, kRemove };

// Returns "" if the ring no longer exists: this call or another process has merged it, or this call has removed it
// (kRemove). Otherwise returns one line with the error; the ring then still exists, and can be drained again. Waits at
// most 20 s for another process that drains this ring. `signal`: the signal that killed the process; 0: unknown.
std::string DrainRing(const std::string& ring_path, WithoutCapture without, std::uint32_t signal = 0);

}  // namespace memoir

#endif  // TRACKER_DRAIN_DRAIN_H_
