// The part of the builder that makes events of driver allocations.
#include <algorithm>

#include "tests/captures/capture_builder.h"
#include "tests/captures/capture_encoding.h"

namespace memoir::testing {

ProcessBuilder& ProcessBuilder::GiveDriverBlock(std::uint32_t device, std::uint64_t address, std::uint64_t bytes,
                                                v1::DriverCall call, const std::string& library) {
  const std::uint32_t name = NameIdOf(library, false);
  driver_[{device, address}] = {bytes, serial_, tick_, call, name};
  v1::ThreadRun& run = AddDeviceEvent(v1::DRIVER_ALLOCATE, device, address);
  run.add_bytes(bytes);
  run.add_driver_call(call);
  run.add_library(name);
  return *this;
}

ProcessBuilder& ProcessBuilder::TakeDriverBlock(std::uint32_t device, std::uint64_t address) {
  driver_.erase({device, address});
  AddDeviceEvent(v1::DRIVER_FREE, device, address);
  return *this;
}

ProcessBuilder& ProcessBuilder::RefuseDriver(std::uint32_t device, std::uint64_t bytes, v1::DriverCall call,
                                             const std::string& library, std::uint32_t error,
                                             std::uint64_t device_free) {
  const std::uint32_t name = NameIdOf(library, false);
  v1::ThreadRun& run = AddDeviceEvent(v1::DRIVER_REFUSED, device, 0);
  run.add_bytes(bytes);
  run.add_device_free(device_free);
  run.add_driver_call(call);
  run.add_library(name);
  run.add_driver_error(error);
  return *this;
}

ProcessBuilder& ProcessBuilder::ReadDevice(std::uint32_t device, v1::ReadingCause cause, const Reading& reading) {
  v1::DeviceReading message;
  message.set_device(device);
  message.set_tick(tick_);
  message.set_cause(cause);
  message.set_free_bytes(reading.free + 1);
  message.set_total_bytes(reading.total + 1);
  message.set_process_bytes(reading.process + 1);
  message.set_other_processes_bytes(reading.others + 1);
  message.set_pool_bytes(reading.pools + 1);
  std::vector<v1::DeviceReading>& kept = readings_[device];
  kept.resize(std::max<std::size_t>(kept.size(), 3), message);
  if (message.free_bytes() < kept[1].free_bytes()) kept[1] = message;
  kept[2] = message;
  v1::ThreadRun& run = AddDeviceEvent(v1::DEVICE_READING, device, 0);
  run.add_reading_cause(cause);
  for (const std::uint64_t value : {reading.free, reading.total, reading.process, reading.others, reading.pools})
    run.add_reading(value + 1);
  return *this;
}

ProcessBuilder& ProcessBuilder::ReadHost(const v1::HostReading& numbers) {
  v1::ThreadRun& run = AddEvent(v1::HOST_READING);
  run.add_reading_cause(v1::REGULAR);
  for (const std::uint64_t number :
       {numbers.anonymous_bytes(), numbers.shared_bytes(), numbers.file_bytes(), numbers.swap_bytes(),
        numbers.proportional_bytes(), numbers.malloc_used_bytes(), numbers.malloc_free_bytes(), numbers.children(),
        numbers.children_bytes(), numbers.group_id(), numbers.group_used_bytes(), numbers.group_limit_bytes(),
        numbers.group_reclaimable_bytes(), numbers.group_shared_bytes(), numbers.group_kills(), numbers.machine_bytes(),
        numbers.machine_available_bytes(), numbers.machine_kills()})
    run.add_host_reading(number);
  tick_ += options_.tick_step;
  return *this;
}

void ProcessBuilder::FillDriver(v1::Keyframe* keyframe) const {
  if (driver_.empty() && readings_.empty()) return;
  v1::DriverBlocks* blocks = keyframe->mutable_driver();
  std::uint64_t last_address = 0, last_serial = 0, last_tick = 0;
  for (const auto& [where, block] : driver_) {
    blocks->add_address_delta(Difference(where.second, last_address));
    blocks->add_bytes(block.bytes);
    blocks->add_device(where.first);
    blocks->add_serial_delta(Difference(block.serial, last_serial));
    blocks->add_tick_delta(Difference(block.tick, last_tick));
    blocks->add_driver_call(block.call);
    blocks->add_library(block.library);
  }
  for (const auto& [device, kept] : readings_) {
    for (const v1::DeviceReading& reading : kept) *keyframe->add_readings() = reading;
  }
}

}  // namespace memoir::testing
