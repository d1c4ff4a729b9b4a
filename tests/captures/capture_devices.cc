// The part of the builder that makes events of devices with a caching allocator.
#include <algorithm>

#include "tests/captures/capture_builder.h"
#include "tests/captures/capture_encoding.h"

namespace memoir::testing {

// `address` 0: of a kind without one, which repeats the one before.
v1::ThreadRun& ProcessBuilder::AddDeviceEvent(v1::EventKind kind, std::uint32_t device, std::uint64_t address) {
  v1::ThreadRun& run = AddEvent(kind);
  Thread& on = thread();
  if (address == 0) address = on.last_address;
  run.add_address_delta(Difference(address, on.last_address));
  run.add_serial_delta(Difference(serial_++, on.last_serial));
  on.devices.push_back(device);
  tick_ += options_.tick_step;
  return run;
}

ProcessBuilder& ProcessBuilder::AllocateBlock(std::uint32_t device, std::uint64_t address, std::uint64_t bytes,
                                              std::uint64_t requested) {
  Track(true, serial_, address, bytes, device);
  v1::ThreadRun& run = AddDeviceEvent(v1::BLOCK_ALLOCATE, device, address);
  run.add_bytes(bytes);
  run.add_requested_bytes(requested == 0 ? bytes : requested);
  run.add_stream_delta(0);
  return *this;
}

ProcessBuilder& ProcessBuilder::FindBlock(std::uint32_t device, std::uint64_t address, std::uint64_t bytes) {
  v1::ThreadRun& run = AddDeviceEvent(v1::BLOCK_FOUND, device, address);
  run.add_bytes(bytes);
  run.add_requested_bytes(bytes);
  run.add_stream_delta(0);
  return *this;
}

ProcessBuilder& ProcessBuilder::CompleteFree(std::uint32_t device, std::uint64_t address) {
  AddDeviceEvent(v1::DEALLOCATE_COMPLETED, device, address);
  return *this;
}

ProcessBuilder& ProcessBuilder::ChangeSegment(v1::EventKind kind, std::uint32_t device, std::uint64_t address,
                                              std::uint64_t bytes) {
  v1::ThreadRun& run = AddDeviceEvent(kind, device, address);
  run.add_bytes(bytes);
  run.add_stream_delta(0);
  return *this;
}

ProcessBuilder& ProcessBuilder::RunOutOfMemory(std::uint32_t device, std::uint64_t asked, std::uint64_t device_free,
                                               std::uint64_t limit) {
  v1::ThreadRun& run = AddDeviceEvent(v1::OUT_OF_MEMORY, device, 0);
  run.add_bytes(asked);
  run.add_stream_delta(0);
  run.add_device_free(device_free);
  if (limit == 0 && run.device_limit_size() == 0) return *this;
  const auto is_error = [](char event) { return event == static_cast<char>(v1::OUT_OF_MEMORY); };
  const auto errors = std::count_if(run.kind().begin(), run.kind().end(), is_error);
  run.mutable_device_limit()->Resize(static_cast<int>(errors), 0);
  run.set_device_limit(static_cast<int>(errors) - 1, limit == 0 ? 0 : limit + 1);
  return *this;
}

ProcessBuilder& ProcessBuilder::CountDevice(std::uint32_t device, const Statistics& statistics) {
  v1::ThreadRun& run = AddDeviceEvent(v1::DEVICE_STATISTICS, device, 0);
  for (const std::uint64_t value :
       {statistics.allocated, statistics.active, statistics.reserved, statistics.retries, statistics.ooms})
    run.add_statistic(value);
  return *this;
}

}  // namespace memoir::testing
