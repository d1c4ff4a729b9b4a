// The part of ChunkBuilder for devices with a caching allocator, and for the live blocks of all devices.
#include "tracker/writer/chunk_builder.h"

namespace memoir {

std::uint32_t ChunkBuilder::DeviceOf(const DevicePlace& place) {
  return devices_.Find(place.device_type, place.device_index, part_, &definitions_);
}

LiveBlock ChunkBuilder::MakeBlock(const ThreadState& thread, std::uint32_t device) const {
  const ThreadState& working = threads_.FindWorkingThread(thread);
  const ModulePlace place = modules_are_followed_ ? working.modules.CurrentPlace(working.ranges) : ModulePlace();
  LiveBlock block;
  block.thread = thread.thread;
  block.leaf_name = thread.ranges.depth() > 0 ? thread.ranges.leaf() : working.ranges.leaf();
  block.operator_id = static_cast<std::uint16_t>(working.ranges.outermost_operator());
  block.module = static_cast<std::uint16_t>(place.module);
  block.device = static_cast<std::uint16_t>(device);
  block.place = place.place;
  const Callstacks stacks = ThreadModules::CurrentCallstacks(working.ranges, OwnStack(thread));
  block.stack = stacks.own;
  block.forward_stack = stacks.forward;
  return block;
}

void ChunkBuilder::AddDeviceEvent(ThreadState& thread, const EventGroup& group, RunColumns& run) {
  switch (group.kind) {
    case RecordKind::kBlockAllocate:
    case RecordKind::kBlockFound:
      return AddBlock(thread, group, run);
    case RecordKind::kBlockFreeCompleted:
      return AddFreeCompleted(group, run);
    case RecordKind::kSegment:
      return AddSegment(group, run);
    case RecordKind::kOutOfMemory:
      return AddOutOfMemory(group, run);
    case RecordKind::kDeviceStatistics:
      return AddStatistics(group, run);
    default:
      return AddDriverEvent(group, run);
  }
}

void ChunkBuilder::AddBlock(ThreadState& thread, const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<BlockRecord>();
  const std::uint32_t device = DeviceOf(record.place);
  run.PutBlock(record.address, record.serial, device);
  run.Put(RunColumn::kBytes, record.bytes);
  run.Put(RunColumn::kRequestedBytes, record.requested);
  run.PutPlace(record.place);
  Track(thread, record, device);
}

void ChunkBuilder::Track(const ThreadState& thread, const BlockRecord& record, std::uint32_t device) {
  LiveBlock block = MakeBlock(thread, device);
  block.address = record.address;
  block.bytes = record.bytes;
  block.serial = record.serial;
  block.tick = record.tick;
  block.requested = record.requested;
  record.header.kind == RecordKind::kBlockFound ? memory_.AddFound(block) : memory_.Allocate(block);
}

void ChunkBuilder::Track(const ThreadState& thread, const AllocateRecord& record, std::uint32_t device) {
  LiveBlock block = MakeBlock(thread, device);
  block.address = record.address;
  block.bytes = record.bytes;
  block.serial = record.serial;
  block.tick = record.tick;
  memory_.Allocate(block);
}

void ChunkBuilder::TrackFree(const DeallocateRecord& record, std::uint32_t device) {
  if (memory_.HasSegments(device)) return memory_.RequestFree(device, record.address, record.serial);
  memory_.Deallocate(device, record.address, record.serial);
}

void ChunkBuilder::AddFreeCompleted(const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<DeallocateRecord>();
  const std::uint32_t device = devices_.Find(record.device_type, record.device_index, part_, &definitions_);
  run.PutBlock(record.address, record.serial, device);
  memory_.CompleteFree(device, record.address, record.serial);
}

void ChunkBuilder::AddSegment(const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<SegmentRecord>();
  const std::uint32_t device = DeviceOf(record.place);
  run.PutBlock(record.address, record.serial, device);
  run.Put(RunColumn::kBytes, record.bytes);
  run.PutPlace(record.place);
  const auto action = static_cast<SegmentAction>(record.header.flags);
  if (action == SegmentAction::kFree || action == SegmentAction::kUnmap)
    return memory_.RemoveSegment(device, record.address, record.bytes);
  memory_.AddSegment({device, record.address, record.bytes, record.bytes <= kMostSmallSegmentBytes, record.place});
}

void ChunkBuilder::AddOutOfMemory(const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<OutOfMemoryRecord>();
  const std::uint32_t device = DeviceOf(record.place);
  run.PutBlock(run.last_address(), record.serial, device);
  run.Put(RunColumn::kBytes, record.requested);
  run.PutPlace(record.place);
  run.Put(RunColumn::kDeviceFree, record.device_free);
  run.PutOptional(RunColumn::kDeviceLimit, record.device_limit);
  memory_.CountOutOfMemory(device);
}

void ChunkBuilder::AddStatistics(const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<DeviceStatisticsRecord>();
  const std::uint32_t device = devices_.Find(record.device_type, record.device_index, part_, &definitions_);
  run.PutBlock(run.last_address(), record.serial, device);
  for (const std::uint64_t value :
       {record.allocated_bytes, record.active_bytes, record.reserved_bytes, record.alloc_retries, record.ooms}) {
    run.Put(RunColumn::kStatistic, value);
  }
  memory_.Count(device, record.alloc_retries, record.ooms);
}

}  // namespace memoir
