// Records of a device's caching allocator, written to the calling thread's ring segment.
//
// Under the allocator's lock: none of these waits, allocates, or calls torch. Where there is no room, the record is
// dropped and counted.
#ifndef TRACKER_TORCH_DEVICE_RECORDS_H_
#define TRACKER_TORCH_DEVICE_RECORDS_H_

#include <cstdint>

#include "interpose/ring_record.h"

namespace memoir {

// The allocator's own, as DeviceStatisticsRecord has them.
struct DeviceNumbers {
  bool known = false;
  std::uint64_t allocated = 0;
  std::uint64_t active = 0;
  std::uint64_t reserved = 0;
  std::uint64_t alloc_retries = 0;
  std::uint64_t ooms = 0;
};

// `kind`: kBlockAllocate or kBlockFound.
void RecordBlock(RecordKind kind, std::uint64_t address, std::uint64_t bytes, std::uint64_t requested,
                 std::uint64_t serial, const DevicePlace& place);
// `kind`: kDeallocate, the program gives the block back, or kBlockFreeCompleted, the allocator has it back.
void RecordFree(RecordKind kind, std::uint64_t address, std::uint64_t serial, const DevicePlace& place);
void RecordSegment(SegmentAction action, std::uint64_t address, std::uint64_t bytes, std::uint64_t serial,
                   const DevicePlace& place);
// `device_limit`: what the allocator may reserve, or kNotKnown.
void RecordOutOfMemory(std::uint64_t requested, std::uint64_t device_free, std::uint64_t device_limit,
                       std::uint64_t serial, const DevicePlace& place);
// Nothing where they are not known.
void RecordNumbers(const DeviceNumbers& numbers, std::uint64_t serial, const DevicePlace& place);

}  // namespace memoir

#endif  // TRACKER_TORCH_DEVICE_RECORDS_H_
