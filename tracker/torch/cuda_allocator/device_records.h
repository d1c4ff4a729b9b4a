// Writes records of what torch's caching allocator does on a CUDA device into the calling thread's ring extent: blocks,
// segments, out-of-memory errors, statistics.
//
// The hooks call these functions under the allocator's lock, and cuda_found_blocks.cc calls them under no lock. The
// functions do not wait, do not allocate, and do not call torch. If the ring has no room, the record is dropped and
// counted.
#ifndef TRACKER_TORCH_CUDA_ALLOCATOR_DEVICE_RECORDS_H_
#define TRACKER_TORCH_CUDA_ALLOCATOR_DEVICE_RECORDS_H_

#include <cstdint>

#include "interpose/records/ring_record.h"

namespace memoir {

// The allocator's statistics, as in DeviceStatisticsRecord.
struct DeviceNumbers {
  bool known = false;
  std::uint64_t allocated = 0;
  std::uint64_t active = 0;
  std::uint64_t reserved = 0;
  std::uint64_t alloc_retries = 0;
  std::uint64_t ooms = 0;
};

// Records an allocation, or a block that a snapshot found. `kind`: kBlockAllocate or kBlockFound.
void RecordBlock(RecordKind kind, std::uint64_t address, std::uint64_t bytes, std::uint64_t requested,
                 std::uint64_t serial, const DevicePlace& place);
// Records the free of a block. `kind`: kDeallocate (the program frees the block) or kBlockFreeCompleted (the allocator
// may use the memory again).
void RecordFree(RecordKind kind, std::uint64_t address, std::uint64_t serial, const DevicePlace& place);
void RecordSegment(SegmentAction action, std::uint64_t address, std::uint64_t bytes, std::uint64_t serial,
                   const DevicePlace& place);
// Records an out-of-memory error. `requested`: rounded bytes of the request that failed. `device_free`: free bytes of
// the device. `device_limit`: bytes that the allocator may reserve, or kNotKnown.
void RecordOutOfMemory(std::uint64_t requested, std::uint64_t device_free, std::uint64_t device_limit,
                       std::uint64_t serial, const DevicePlace& place);
// Records the statistics. Does nothing if `numbers.known` is false.
void RecordNumbers(const DeviceNumbers& numbers, std::uint64_t serial, const DevicePlace& place);

}  // namespace memoir

#endif  // TRACKER_TORCH_CUDA_ALLOCATOR_DEVICE_RECORDS_H_
