#include "tracker/writer/pack/block_packer.h"

namespace memoir {

void BlockPacker::AddAllocate(ThreadState& thread, const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<AllocateRecord>();
  const std::uint32_t device = shared_.DeviceOf(record);
  run.PutBlock(record.address, record.serial, device);
  run.Put(RunColumn::kBytes, record.bytes);
  Track(thread, record, device);
}

void BlockPacker::AddDeallocate(ThreadState& /*thread*/, const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<DeallocateRecord>();
  const std::uint32_t device = shared_.DeviceOf(record);
  run.PutBlock(record.address, record.serial, device);
  TrackFree(record, device);
}

void BlockPacker::AddBlock(ThreadState& thread, const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<BlockRecord>();
  const std::uint32_t device = shared_.DeviceOf(record.place);
  run.PutBlock(record.address, record.serial, device);
  run.Put(RunColumn::kBytes, record.bytes);
  run.Put(RunColumn::kRequestedBytes, record.requested);
  run.PutPlace(record.place);
  Track(thread, record, device);
}

void BlockPacker::AddFreeCompleted(ThreadState& /*thread*/, const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<DeallocateRecord>();
  const std::uint32_t device = shared_.DeviceOf(record);
  run.PutBlock(record.address, record.serial, device);
  TrackFreeCompleted(record, device);
}

void BlockPacker::Track(const ThreadState& thread, const AllocateRecord& record, std::uint32_t device) {
  LiveBlock block = MakeBlock(thread, device);
  block.address = record.address;
  block.bytes = record.bytes;
  block.serial = record.serial;
  block.tick = record.tick;
  shared_.memory.Allocate(block);
}

void BlockPacker::Track(const ThreadState& thread, const BlockRecord& record, std::uint32_t device) {
  LiveBlock block = MakeBlock(thread, device);
  block.address = record.address;
  block.bytes = record.bytes;
  block.serial = record.serial;
  block.tick = record.tick;
  block.requested = record.requested;
  record.header.kind == RecordKind::kBlockFound ? shared_.memory.AddFound(block) : shared_.memory.Allocate(block);
}

void BlockPacker::TrackFree(const DeallocateRecord& record, std::uint32_t device) {
  MemoryState& memory = shared_.memory;
  if (memory.HasSegments(device)) return memory.RequestFree(device, record.address, record.serial);
  memory.Deallocate(device, record.address, record.serial);
}

void BlockPacker::TrackFreeCompleted(const DeallocateRecord& record, std::uint32_t device) {
  shared_.memory.CompleteFree(device, record.address, record.serial);
}

LiveBlock BlockPacker::MakeBlock(const ThreadState& thread, std::uint32_t device) const {
  const ThreadState& working = shared_.threads.FindWorkingThread(thread);
  const ModulePlace place = shared_.modules_are_followed ? working.modules.CurrentPlace(working.ranges) : ModulePlace();
  LiveBlock block;
  block.thread = thread.thread;
  block.leaf_name = thread.ranges.depth() > 0 ? thread.ranges.leaf() : working.ranges.leaf();
  block.operator_id = static_cast<std::uint16_t>(working.ranges.outermost_operator());
  block.module = static_cast<std::uint16_t>(place.module);
  block.device = static_cast<std::uint16_t>(device);
  block.place = place.place;
  const Callstacks stacks = ThreadModules::CurrentCallstacks(working.ranges, shared_.OwnStack(thread));
  block.stack = stacks.own;
  block.forward_stack = stacks.forward;
  return block;
}

}  // namespace memoir
