// Ring records of what the driver gives, gets back and refuses (docs/event_schema.md, "What the driver gives").
//
// Called under torch's lock of a device: nothing waits or allocates; without room in the ring a record is dropped and
// counted. libc only. Any thread. Sizes are bytes; a device of -1 is the host.
#ifndef INTERPOSE_CUDA_DRIVER_RECORDS_H_
#define INTERPOSE_CUDA_DRIVER_RECORDS_H_

#include <cstdint>

#include "interpose/cuda/caller_names.h"
#include "interpose/ring_record.h"

namespace memoir {

// One counter for the process. Taken after the call that gives and before the call that takes back, so that on every
// address what is given and taken back is in order.
std::uint64_t NextDriverSerial();

struct DriverBlock {
  DriverCall call;
  int device;
  std::uint64_t address;
  std::uint64_t bytes;
  // Which are not recorded: where it was given, to know when it ends.
  int home = -1;              // the device whose context was current
  std::uint64_t context = 0;  // that context; 0: not known, or the primary one
};
void RecordDriverBlock(const DriverBlock& block, const LibraryName& library, std::uint64_t serial);
void RecordDriverFree(std::uint64_t address, int device, std::uint64_t serial);

struct DriverRefusal {
  DriverCall call;
  int device;
  std::uint64_t bytes;        // 0: the call does not say
  std::uint64_t device_free;  // or kNotKnown
  std::uint32_t error;
};
void RecordDriverRefusal(const DriverRefusal& refusal, const LibraryName& library);

struct DeviceNumbersRead {
  std::uint64_t free_bytes = kNotKnown;
  std::uint64_t total_bytes = kNotKnown;
  std::uint64_t process_bytes = kNotKnown;
  std::uint64_t other_processes_bytes = kNotKnown;
  std::uint64_t pool_bytes = kNotKnown;

  bool operator==(const DeviceNumbersRead&) const = default;
};
void RecordDeviceReading(ReadingCause cause, int device, const DeviceNumbersRead& numbers);

}  // namespace memoir

#endif  // INTERPOSE_CUDA_DRIVER_RECORDS_H_
