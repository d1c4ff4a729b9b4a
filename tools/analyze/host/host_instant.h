// Divides the host memory of a process, at one sample, into parts. The parts sum to the resident bytes.
#ifndef TOOLS_ANALYZE_HOST_HOST_INSTANT_H_
#define TOOLS_ANALYZE_HOST_HOST_INSTANT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tools/model/event/host_event.h"

namespace memoir {

// Parts of the host memory of a process.
enum class HostPart : std::uint8_t {
  kTensors,     // blocks of torch's CPU allocator, as recorded
  kPinned,      // blocks of torch's pinned-memory allocator, as recorded
  kMalloc,      // other memory that the program allocated with malloc and has not freed
  kMallocFree,  // freed memory that malloc has not returned to the system
  kOther,       // other private memory: Python objects, arrays that were mapped directly, stacks
  kShared,      // /dev/shm and shared mappings
  kFiles,       // mapped files, including libraries
  kUntouched,   // a negative number: minus the bytes of the parts above that were never written, or are in swap
};
inline constexpr std::size_t kHostParts = 8;
std::string_view ToString(HostPart part);  // "tensors", "malloc_free", ...

struct HostInstant {
  std::uint64_t ns = 0;
  std::optional<std::uint64_t> step;  // number of the newest step
  HostNumbers numbers;
  std::array<std::int64_t, kHostParts> bytes{};  // by HostPart; kOther includes the bytes of unmeasured parts

  std::int64_t operator[](HostPart part) const { return bytes[static_cast<std::size_t>(part)]; }
  std::int64_t& operator[](HostPart part) { return bytes[static_cast<std::size_t>(part)]; }
  std::uint64_t resident() const { return numbers.resident_bytes().value_or(0); }
  // Returns how many more bytes can be used before the out-of-memory killer of the process's cgroup acts. If the cgroup
  // has no limit, returns the available bytes of the machine. nullopt if unknown.
  std::optional<std::uint64_t> headroom() const;
  // Returns the limit of the process's cgroup. If the cgroup has no limit, returns the memory of the machine. nullopt
  // if unknown.
  std::optional<std::uint64_t> limit() const;
};

// Returns the parts of one sample. `tensors`, `pinned`: live bytes of torch's CPU and pinned-memory allocators at the
// sample.
HostInstant DivideHost(const HostNumbers& numbers, std::uint64_t tensors, std::uint64_t pinned);

// Growth that lasts until the end of the recording, as opposed to noise and warm-up.
struct HostGrowth {
  HostPart part = HostPart::kOther;  // the part that has grown most
  std::int64_t part_bytes = 0;       // growth of this part
  std::int64_t bytes = 0;            // growth of the resident bytes
  std::uint64_t since_ns = 0, until_ns = 0;
  std::optional<std::uint64_t> steps;    // steps from `since_ns` to `until_ns`
  std::optional<std::uint64_t> left_ns;  // time until growth at this rate has used the headroom
};
// Returns the growth of the resident bytes. nullopt if they do not grow in this way. `instants`: in the order of time.
std::optional<HostGrowth> GrowthOf(const std::vector<HostInstant>& instants);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_HOST_HOST_INSTANT_H_
