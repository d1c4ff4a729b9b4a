// Writes records of blocks into the calling thread's ring extent: blocks of CPU memory, page-locked memory, and CUDA
// memory at device level (device_level_hook.h). Call the functions on any thread that holds no lock of torch. If the
// ring has no room, they wait for a bounded time, and the wait is counted (OnEmptyPool::kWait). They preserve errno.
#ifndef TRACKER_TORCH_HOST_ALLOCATORS_HOST_RECORDS_H_
#define TRACKER_TORCH_HOST_ALLOCATORS_HOST_RECORDS_H_

#include <cstddef>
#include <cstdint>

namespace memoir {

// The device of a block, as records contain it: a c10::DeviceType or kPinnedMemory, and the index. The CPU's index is
// -1.
struct BlockDevice {
  std::uint8_t type;
  std::int8_t index;
};

// Call RecordAllocate after torch's allocator has returned the block, and RecordDeallocate before torch's deleter frees
// it, so that the serials of an address have the true order.
void RecordAllocate(void* data, std::size_t bytes, BlockDevice device);
void RecordDeallocate(void* data, BlockDevice device);

}  // namespace memoir

#endif  // TRACKER_TORCH_HOST_ALLOCATORS_HOST_RECORDS_H_
