// One sample of the host's memory: the figures of the process, its children, its memory cgroup and the machine.
#ifndef INTERPOSE_RECORDS_HOST_NUMBERS_H_
#define INTERPOSE_RECORDS_HOST_NUMBERS_H_

#include <cstddef>
#include <cstdint>

namespace memoir {

// Sizes are bytes. Each number may be kNotKnown (ring_record.h). HostReading in capture.proto defines the fields, in
// this order.
struct HostNumbers {
  std::uint64_t anonymous_bytes;
  std::uint64_t shared_bytes;
  std::uint64_t file_bytes;
  std::uint64_t swap_bytes;
  std::uint64_t proportional_bytes;
  std::uint64_t malloc_used_bytes;
  std::uint64_t malloc_free_bytes;
  std::uint64_t children;
  std::uint64_t children_bytes;
  std::uint64_t group_id;
  std::uint64_t group_used_bytes;
  std::uint64_t group_limit_bytes;
  std::uint64_t group_reclaimable_bytes;
  std::uint64_t group_shared_bytes;
  std::uint64_t group_kills;
  std::uint64_t machine_bytes;
  std::uint64_t machine_available_bytes;
  std::uint64_t machine_kills;
};
inline constexpr std::size_t kHostNumbers = sizeof(HostNumbers) / sizeof(std::uint64_t);
static_assert(kHostNumbers == 18);

}  // namespace memoir

#endif  // INTERPOSE_RECORDS_HOST_NUMBERS_H_
