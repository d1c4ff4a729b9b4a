#include "tracker/torch/cuda_allocator/device_records.h"

#include "interpose/ring/ring.h"
#include "interpose/ring/write_record.h"
#include "tracker/repeated_steps/repeated_steps.h"
#include "tracker/stacks/stack_recorder.h"

namespace memoir {
// The functions in this file use WriteRecord instead of TorchThread, because TorchThread calls torch.
namespace {

void RecordStackBefore(std::size_t room) {
  if (ThreadSlot* slot = RingThread(); slot != nullptr) RecordStack(slot, room, OnEmptyPool::kDrop);
}

}  // namespace

void RecordBlock(RecordKind kind, std::uint64_t address, std::uint64_t bytes, std::uint64_t requested,
                 std::uint64_t serial, const DevicePlace& place) {
  if (kind == RecordKind::kBlockAllocate) {
    if (StepsAreFollowed()) repeated_steps::FollowDeviceBlock(place.device_index, requested, place.stream);
    RecordStackBefore(sizeof(BlockRecord));
  }
  const bool written = WriteRecord<BlockRecord>(kind, 0, [&](BlockRecord& record) {
    record.address = address;
    record.bytes = bytes;
    record.requested = requested;
    record.serial = serial;
    record.place = place;
  });
  if (!written) RingCountDroppedAllocation(bytes);
}

void RecordFree(RecordKind kind, std::uint64_t address, std::uint64_t serial, const DevicePlace& place) {
  WriteRecord<DeallocateRecord>(kind, 0, [&](DeallocateRecord& record) {
    record.address = address;
    record.serial = serial;
    record.device_type = place.device_type;
    record.device_index = place.device_index;
  });
}

void RecordSegment(SegmentAction action, std::uint64_t address, std::uint64_t bytes, std::uint64_t serial,
                   const DevicePlace& place) {
  if (action == SegmentAction::kAllocate || action == SegmentAction::kMap) RecordStackBefore(sizeof(SegmentRecord));
  WriteRecord<SegmentRecord>(RecordKind::kSegment, static_cast<std::uint8_t>(action), [&](SegmentRecord& record) {
    record.address = address;
    record.bytes = bytes;
    record.serial = serial;
    record.place = place;
  });
}

void RecordOutOfMemory(std::uint64_t requested, std::uint64_t device_free, std::uint64_t device_limit,
                       std::uint64_t serial, const DevicePlace& place) {
  RecordStackBefore(sizeof(OutOfMemoryRecord));
  WriteRecord<OutOfMemoryRecord>(RecordKind::kOutOfMemory, 0, [&](OutOfMemoryRecord& record) {
    record.requested = requested;
    record.device_free = device_free;
    record.device_limit = device_limit;
    record.serial = serial;
    record.place = place;
  });
}

void RecordNumbers(const DeviceNumbers& numbers, std::uint64_t serial, const DevicePlace& place) {
  if (!numbers.known) return;
  WriteRecord<DeviceStatisticsRecord>(RecordKind::kDeviceStatistics, 0, [&](DeviceStatisticsRecord& record) {
    record.serial = serial;
    record.allocated_bytes = numbers.allocated;
    record.active_bytes = numbers.active;
    record.reserved_bytes = numbers.reserved;
    record.alloc_retries = numbers.alloc_retries;
    record.ooms = numbers.ooms;
    record.device_type = place.device_type;
    record.device_index = place.device_index;
  });
}

}  // namespace memoir
