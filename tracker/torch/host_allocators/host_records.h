// Writes records of host blocks into the calling thread's ring extent. Any thread that holds no lock of torch's. If the
// ring has no room, the functions wait for a bounded time, and the wait is counted (OnEmptyPool::kWait). They preserve
// errno.
#ifndef TRACKER_TORCH_HOST_ALLOCATORS_HOST_RECORDS_H_
#define TRACKER_TORCH_HOST_ALLOCATORS_HOST_RECORDS_H_

#include <cstddef>
#include <cstdint>

namespace memoir {

// A device as in records: its type and its index, which is -1 for the CPU.
struct HostDevice {
  std::uint8_t type;
  std::int8_t index;
};

// Call RecordAllocate after the inner allocator has returned the block, and RecordDeallocate before the inner deleter
// is called, so that the serials of an address have the true order.
void RecordAllocate(void* data, std::size_t bytes, HostDevice device);
void RecordDeallocate(void* data, HostDevice device);

}  // namespace memoir

#endif  // TRACKER_TORCH_HOST_ALLOCATORS_HOST_RECORDS_H_
