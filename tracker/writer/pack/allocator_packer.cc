#include "tracker/writer/pack/allocator_packer.h"

namespace memoir {

void AllocatorPacker::AddSegment(ThreadState& /*thread*/, const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<SegmentRecord>();
  const std::uint32_t device = shared_.DeviceOf(record.place);
  run.PutBlock(record.address, record.serial, device);
  run.Put(RunColumn::kBytes, record.bytes);
  run.PutPlace(record.place);
  MemoryState& memory = shared_.memory;
  const auto action = static_cast<SegmentAction>(record.header.flags);
  if (action == SegmentAction::kFree || action == SegmentAction::kUnmap)
    return memory.RemoveSegment(device, record.address, record.bytes);
  memory.AddSegment({device, record.address, record.bytes, record.bytes <= kMostSmallSegmentBytes, record.place});
}

void AllocatorPacker::AddOutOfMemory(ThreadState& /*thread*/, const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<OutOfMemoryRecord>();
  const std::uint32_t device = shared_.DeviceOf(record.place);
  run.PutBlock(run.last_address(), record.serial, device);
  run.Put(RunColumn::kBytes, record.requested);
  run.PutPlace(record.place);
  run.Put(RunColumn::kDeviceFree, record.device_free);
  run.PutOptional(RunColumn::kDeviceLimit, record.device_limit);
  shared_.memory.CountOutOfMemory(device);
}

void AllocatorPacker::AddStatistics(ThreadState& /*thread*/, const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<DeviceStatisticsRecord>();
  const std::uint32_t device = shared_.DeviceOf(record);
  run.PutBlock(run.last_address(), record.serial, device);
  for (const std::uint64_t value :
       {record.allocated_bytes, record.active_bytes, record.reserved_bytes, record.alloc_retries, record.ooms}) {
    run.Put(RunColumn::kStatistic, value);
  }
  shared_.memory.Count(device, record.alloc_retries, record.ooms);
}

}  // namespace memoir
