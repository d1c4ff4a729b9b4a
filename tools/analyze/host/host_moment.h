// Who has a process's memory on the host at one reading: rows that sum to what is resident.
#ifndef TOOLS_ANALYZE_HOST_HOST_MOMENT_H_
#define TOOLS_ANALYZE_HOST_HOST_MOMENT_H_

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "tools/model/host_event.h"

namespace memoir {

// What a part of the host's memory is.
enum class HostPart : std::uint8_t {
  kTensors,     // of torch's CPU allocator, exact
  kPinned,      // of torch's allocator of pinned memory, exact
  kMalloc,      // what else the program took of malloc
  kMallocFree,  // what malloc keeps for later
  kOther,       // the rest that only this process has: Python's objects, arrays mapped by themselves, stacks
  kShared,      // /dev/shm and shared mappings
  kFiles,       // mapped files, libraries among them
  kUntouched,   // negative: of the above, what was never written to, or is in swap
};
inline constexpr std::size_t kHostParts = 8;
std::string_view ToString(HostPart part);  // "tensors", "malloc_free", ...

struct HostMoment {
  std::uint64_t ns = 0;
  std::optional<std::uint64_t> step;  // number of the newest
  HostNumbers numbers;
  std::array<std::int64_t, kHostParts> bytes{};  // by HostPart; those of which nothing is known are part of kOther

  std::int64_t operator[](HostPart part) const { return bytes[static_cast<std::size_t>(part)]; }
  std::int64_t& operator[](HostPart part) { return bytes[static_cast<std::size_t>(part)]; }
  std::uint64_t resident() const { return numbers.resident_bytes().value_or(0); }
  // What the cgroup, or without one the machine, has left before a killer comes. Empty: there is no limit, or it is
  // not known.
  std::optional<std::uint64_t> headroom() const;
  std::optional<std::uint64_t> limit() const;
};

// `tensors`, `pinned`: bytes that torch's allocators had given out then.
HostMoment DivideHost(const HostNumbers& numbers, std::uint64_t tensors, std::uint64_t pinned);

// Growth that goes on to the end, told from noise and warm-up.
struct HostGrowth {
  HostPart part = HostPart::kOther;  // that has grown most
  std::int64_t part_bytes = 0;       // by how much
  std::int64_t bytes = 0;            // of all that is resident
  std::uint64_t since_ns = 0, until_ns = 0;
  std::optional<std::uint64_t> steps;    // in between
  std::optional<std::uint64_t> left_ns;  // until the headroom is gone, if it goes on so
};
std::optional<HostGrowth> GrowthOf(const std::vector<HostMoment>& moments);

}  // namespace memoir

#endif  // TOOLS_ANALYZE_HOST_HOST_MOMENT_H_
