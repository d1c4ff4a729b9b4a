// The part of ChunkBuilder for driver allocations, outside of torch's caching allocator.
#include <cstring>
#include <string_view>

#include "tracker/writer/chunk_builder.h"

namespace memoir {

void ChunkBuilder::AddDriverEvent(const EventGroup& group, RunColumns& run) {
  switch (group.kind) {
    case RecordKind::kDriverAllocate:
      return AddDriverAllocate(group, run);
    case RecordKind::kDriverFree:
      return AddDriverFree(group, run);
    case RecordKind::kDriverRefused:
      return AddDriverRefused(group, run);
    case RecordKind::kDeviceReading:
      return AddReading(group, run);
    case RecordKind::kHostReading:
      return AddHostReading(group, run);
    case RecordKind::kKernelLaunch:
      return AddKernelLaunch(group, run);
    case RecordKind::kDeviceCall:
      return AddDeviceCall(group, run);
    case RecordKind::kKernelRun:
      return AddKernelRun(group, run);
    default:
      return;
  }
}

// Returns the name id of the library of a record; 0 if the record names no library.
std::uint32_t ChunkBuilder::FindLibrary(const char* library) {
  const std::string_view text(library, strnlen(library, kMaxLibraryName));
  if (text.empty()) return 0;
  Names::Name* name = names_.FindText(text);
  names_.Define(name, part_, &definitions_);
  return name->id;
}

void ChunkBuilder::AddDriverAllocate(const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<DriverBlockRecord>();
  LiveBlock block;
  block.device =
      static_cast<std::uint16_t>(devices_.Find(record.device_type, record.device_index, part_, &definitions_));
  block.leaf_name = FindLibrary(record.library);
  block.place = record.header.flags;
  block.address = record.address;
  block.bytes = record.bytes;
  block.serial = record.serial;
  block.tick = record.tick;
  run.PutBlock(block.address, block.serial, block.device);
  run.Put(RunColumn::kBytes, block.bytes);
  run.PutDriverCall(block.place, block.leaf_name);
  driver_.Allocate(block);
}

void ChunkBuilder::AddDriverFree(const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<DeallocateRecord>();
  const std::uint32_t device = devices_.Find(record.device_type, record.device_index, part_, &definitions_);
  run.PutBlock(record.address, record.serial, device);
  driver_.Free(device, record.address, record.serial);
}

void ChunkBuilder::AddDriverRefused(const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<DriverRefusedRecord>();
  const std::uint32_t device = devices_.Find(record.device_type, record.device_index, part_, &definitions_);
  run.PutBlock(run.last_address(), record.serial, device);
  run.Put(RunColumn::kBytes, record.bytes);
  run.Put(RunColumn::kDeviceFree, record.device_free);
  run.PutDriverCall(record.header.flags, FindLibrary(record.library));
  run.Put(RunColumn::kDriverError, record.error);
}

void ChunkBuilder::AddReading(const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<DeviceReadingRecord>();
  const std::uint32_t device = devices_.Find(record.device_type, record.device_index, part_, &definitions_);
  run.PutBlock(run.last_address(), record.serial, device);
  run.Put(RunColumn::kReadingCause, record.header.flags);
  for (const std::uint64_t value :
       {record.free_bytes, record.total_bytes, record.process_bytes, record.other_processes_bytes, record.pool_bytes}) {
    run.PutOptional(RunColumn::kReading, value);
  }
  driver_.AddReading(device, {record.tick, record.serial, record.free_bytes, record.total_bytes, record.process_bytes,
                              record.other_processes_bytes, record.pool_bytes, record.header.flags});
}

void ChunkBuilder::AddHostReading(const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<HostReadingRecord>();
  HostReading reading{record.tick, {}, record.header.flags};
  std::memcpy(reading.numbers.data(), &record.numbers, sizeof reading.numbers);
  run.Put(RunColumn::kReadingCause, reading.cause);
  for (const std::uint64_t number : reading.numbers) run.PutOptional(RunColumn::kHostReading, number);
  host_.AddReading(reading);
}

}  // namespace memoir
