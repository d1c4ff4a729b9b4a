// Records of blocks of host memory, written to the calling thread's ring segment. Any thread, under no lock of torch's:
// they wait for room as an operator's begin may (bounded, counted). errno stays.
#ifndef TRACKER_TORCH_HOST_RECORDS_H_
#define TRACKER_TORCH_HOST_RECORDS_H_

#include <cstddef>
#include <cstdint>

namespace memoir {

// As records have it: the CPU's index is -1.
struct HostDevice {
  std::uint8_t type;
  std::int8_t index;
};

// After the inner allocator gave the block, and before it gets it back: so serials are in the order of truth on every
// address.
void RecordAllocate(void* data, std::size_t bytes, HostDevice device);
void RecordDeallocate(void* data, HostDevice device);

}  // namespace memoir

#endif  // TRACKER_TORCH_HOST_RECORDS_H_
