// Ring records of driver allocations, frees and refusals (docs/event_schema.md, "Driver allocations").
//
// May be called on any thread, also under the lock of torch's CUDA allocator, so nothing waits or allocates. If the
// ring has no room, a record is dropped and counted. This code needs no library except libc. Sizes are in bytes; device
// -1 is the host.
#ifndef INTERPOSE_CUDA_DRIVER_RECORDS_H_
#define INTERPOSE_CUDA_DRIVER_RECORDS_H_

#include <cstdint>

#include "interpose/cuda/caller_names.h"
#include "interpose/records/ring_record.h"

namespace memoir {

// Returns the next serial of the process. Call it after the program's call that allocates, and before the program's
// call that frees, so that the serials of one address are in the order of its allocations and frees.
std::uint64_t NextDriverSerial();

struct DriverBlock {
  DriverCall call;
  int device;
  std::uint64_t address;
  std::uint64_t bytes;
  // These fields are not in the record. They identify the context whose end frees the block.
  int home = -1;              // the device whose context was current at the allocation; -1: unknown
  std::uint64_t context = 0;  // handle of the current context; 0: unknown, treated as the primary context
};
void RecordDriverBlock(const DriverBlock& block, const LibraryName& library, std::uint64_t serial);
void RecordDriverFree(std::uint64_t address, int device, std::uint64_t serial);

struct DriverRefusal {
  DriverCall call;
  int device;
  std::uint64_t bytes;        // requested bytes; 0: unknown
  std::uint64_t device_free;  // free bytes of the device, or kNotKnown
  std::uint32_t error;
};
void RecordDriverRefusal(const DriverRefusal& refusal, const LibraryName& library);

struct DeviceSample {
  std::uint64_t free_bytes = kNotKnown;
  std::uint64_t total_bytes = kNotKnown;
  std::uint64_t process_bytes = kNotKnown;
  std::uint64_t other_processes_bytes = kNotKnown;
  std::uint64_t pool_bytes = kNotKnown;

  bool operator==(const DeviceSample&) const = default;
};
// Writes a device sample and its cause.
void RecordDeviceReading(ReadingCause cause, int device, const DeviceSample& numbers);

}  // namespace memoir

#endif  // INTERPOSE_CUDA_DRIVER_RECORDS_H_
