#include "tracker/writer/pack/driver_packer.h"

#include <cstring>
#include <string_view>

namespace memoir {

// Returns the name id of the library of a record; 0 if the record names no library.
std::uint32_t DriverPacker::FindLibrary(const char* library) {
  const std::string_view text(library, strnlen(library, kMaxLibraryName));
  return text.empty() ? 0 : shared_.DefineName(shared_.names.FindText(text));
}

void DriverPacker::AddAllocate(ThreadState& /*thread*/, const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<DriverBlockRecord>();
  LiveBlock block;
  block.device = static_cast<std::uint16_t>(shared_.DeviceOf(record));
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

void DriverPacker::AddFree(ThreadState& /*thread*/, const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<DeallocateRecord>();
  const std::uint32_t device = shared_.DeviceOf(record);
  run.PutBlock(record.address, record.serial, device);
  driver_.Free(device, record.address, record.serial);
}

void DriverPacker::AddRefused(ThreadState& /*thread*/, const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<DriverRefusedRecord>();
  const std::uint32_t device = shared_.DeviceOf(record);
  run.PutBlock(run.last_address(), record.serial, device);
  run.Put(RunColumn::kBytes, record.bytes);
  run.Put(RunColumn::kDeviceFree, record.device_free);
  run.PutDriverCall(record.header.flags, FindLibrary(record.library));
  run.Put(RunColumn::kDriverError, record.error);
}

void DriverPacker::AddDeviceReading(ThreadState& /*thread*/, const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<DeviceReadingRecord>();
  const std::uint32_t device = shared_.DeviceOf(record);
  run.PutBlock(run.last_address(), record.serial, device);
  run.Put(RunColumn::kReadingCause, record.header.flags);
  for (const std::uint64_t value :
       {record.free_bytes, record.total_bytes, record.process_bytes, record.other_processes_bytes, record.pool_bytes}) {
    run.PutOptional(RunColumn::kReading, value);
  }
  driver_.AddReading(device, {record.tick, record.serial, record.free_bytes, record.total_bytes, record.process_bytes,
                              record.other_processes_bytes, record.pool_bytes, record.header.flags});
}

void DriverPacker::AddHostReading(ThreadState& /*thread*/, const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<HostReadingRecord>();
  HostReading reading{record.tick, {}, record.header.flags};
  std::memcpy(reading.numbers.data(), &record.numbers, sizeof reading.numbers);
  run.Put(RunColumn::kReadingCause, reading.cause);
  for (const std::uint64_t number : reading.numbers) run.PutOptional(RunColumn::kHostReading, number);
  host_.AddReading(reading);
}

}  // namespace memoir
