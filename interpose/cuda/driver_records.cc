#include "interpose/cuda/driver_records.h"

#include <atomic>
#include <cstring>

#include "interpose/ring/ring.h"
#include "interpose/ring/write_record.h"

namespace memoir {
namespace {

// c10::DeviceType.
constexpr std::uint8_t kCpu = 0;
constexpr std::uint8_t kCuda = 1;

constinit std::atomic<std::uint64_t> serials{0};

template <class Record>
void FillDevice(Record& record, int device) {
  record.device_type = device < 0 ? kCpu : kCuda;
  record.device_index = static_cast<std::int8_t>(device);
}

template <class Record, class Fill>
bool Write(RecordKind kind, std::uint8_t flags, Fill fill) {
  return !RecordingEnabled() || WriteRecord<Record>(kind, flags, fill);  // the recording may have ended during the call
}

}  // namespace

std::uint64_t NextDriverSerial() { return serials.fetch_add(1, std::memory_order_acq_rel) + 1; }

void RecordDriverBlock(const DriverBlock& block, const LibraryName& library, std::uint64_t serial) {
  const auto fill = [&](DriverBlockRecord& record) {
    record.address = block.address;
    record.bytes = block.bytes;
    record.serial = serial;
    FillDevice(record, block.device);
    std::memcpy(record.library, library.text, sizeof record.library);
  };
  if (!Write<DriverBlockRecord>(RecordKind::kDriverAllocate, static_cast<std::uint8_t>(block.call), fill))
    RingCountDroppedAllocation(block.bytes);
}

void RecordDriverFree(std::uint64_t address, int device, std::uint64_t serial) {
  Write<DeallocateRecord>(RecordKind::kDriverFree, 0, [&](DeallocateRecord& record) {
    record.address = address;
    record.serial = serial;
    FillDevice(record, device);
  });
}

void RecordDriverRefusal(const DriverRefusal& refusal, const LibraryName& library) {
  const std::uint64_t serial = NextDriverSerial();
  const auto fill = [&](DriverRefusedRecord& record) {
    record.bytes = refusal.bytes;
    record.device_free = refusal.device_free;
    record.serial = serial;
    record.error = refusal.error;
    FillDevice(record, refusal.device);
    std::memcpy(record.library, library.text, sizeof record.library);
  };
  Write<DriverRefusedRecord>(RecordKind::kDriverRefused, static_cast<std::uint8_t>(refusal.call), fill);
}

void RecordDeviceReading(ReadingCause cause, int device, const DeviceSample& numbers) {
  const std::uint64_t serial = NextDriverSerial();
  Write<DeviceReadingRecord>(RecordKind::kDeviceReading, static_cast<std::uint8_t>(cause), [&](auto& record) {
    record.serial = serial;
    record.free_bytes = numbers.free_bytes;
    record.total_bytes = numbers.total_bytes;
    record.process_bytes = numbers.process_bytes;
    record.other_processes_bytes = numbers.other_processes_bytes;
    record.pool_bytes = numbers.pool_bytes;
    FillDevice(record, device);
  });
}

}  // namespace memoir
