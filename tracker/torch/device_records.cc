#include "tracker/torch/device_records.h"

#include <new>

#include "interpose/ring.h"
#include "interpose/tick.h"

namespace memoir {
namespace {

// Lets `fill` write a record of its type; false: there was no room. Not through TorchThread: that calls torch.
template <class Record, class Fill>
bool Write(RecordKind kind, std::uint8_t flags, Fill fill) {
  ThreadSlot* slot = RingThread();
  std::uint8_t* place = slot == nullptr ? nullptr : RingReserve(slot, sizeof(Record), OnEmptyPool::kDrop);
  if (place == nullptr) return false;
  auto* record = new (place) Record{};
  record->header.words = sizeof(Record) / 8;
  record->header.kind = kind;
  record->header.flags = flags;
  record->header.depth = RingDepth(slot);
  record->tick = Tick();
  fill(*record);
  RingCommit(slot, sizeof(Record));
  return true;
}

}  // namespace

void RecordBlock(RecordKind kind, std::uint64_t address, std::uint64_t bytes, std::uint64_t requested,
                 std::uint64_t serial, const DevicePlace& place) {
  const bool written = Write<BlockRecord>(kind, 0, [&](BlockRecord& record) {
    record.address = address;
    record.bytes = bytes;
    record.requested = requested;
    record.serial = serial;
    record.place = place;
  });
  if (!written) RingCountDroppedAllocation(bytes);
}

void RecordFree(RecordKind kind, std::uint64_t address, std::uint64_t serial, const DevicePlace& place) {
  Write<DeallocateRecord>(kind, 0, [&](DeallocateRecord& record) {
    record.address = address;
    record.serial = serial;
    record.device_type = place.device_type;
    record.device_index = place.device_index;
  });
}

void RecordSegment(SegmentAction action, std::uint64_t address, std::uint64_t bytes, std::uint64_t serial,
                   const DevicePlace& place) {
  Write<SegmentRecord>(RecordKind::kSegment, static_cast<std::uint8_t>(action), [&](SegmentRecord& record) {
    record.address = address;
    record.bytes = bytes;
    record.serial = serial;
    record.place = place;
  });
}

void RecordOutOfMemory(std::uint64_t requested, std::uint64_t device_free, std::uint64_t serial,
                       const DevicePlace& place) {
  Write<OutOfMemoryRecord>(RecordKind::kOutOfMemory, 0, [&](OutOfMemoryRecord& record) {
    record.requested = requested;
    record.device_free = device_free;
    record.serial = serial;
    record.place = place;
  });
}

void RecordNumbers(const DeviceNumbers& numbers, std::uint64_t serial, const DevicePlace& place) {
  if (!numbers.known) return;
  Write<DeviceStatisticsRecord>(RecordKind::kDeviceStatistics, 0, [&](DeviceStatisticsRecord& record) {
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
