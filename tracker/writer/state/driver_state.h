// Keeps the live driver allocations, and some samples of each device, for keyframes.
//
// Events of different threads may be added in any order; for each address, the serials determine the order. The memory
// is bounded. One thread.
#ifndef TRACKER_WRITER_STATE_DRIVER_STATE_H_
#define TRACKER_WRITER_STATE_DRIVER_STATE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

#include "tracker/writer/state/live_block_table.h"

namespace memoir {

// A device sample, with the numbers of a DeviceReadingRecord.
struct DeviceReading {
  std::uint64_t tick = 0;
  std::uint64_t serial = 0;
  std::uint64_t free_bytes = 0;
  std::uint64_t total_bytes = 0;
  std::uint64_t process_bytes = 0;
  std::uint64_t other_processes_bytes = 0;
  std::uint64_t pool_bytes = 0;
  std::uint8_t cause = 0;
};

// The samples of one device that keyframes contain.
struct DeviceReadings {
  DeviceReading first, least_free, newest;
};

class DriverState {
 public:
  static constexpr std::size_t kMaxBlocks = 64 * 1024;  // the size of the hooks' own table
  static constexpr std::size_t kMaxDevices = 64;        // devices with samples
  static constexpr std::size_t kMaxEarlyFrees = 1024;   // if there are more, the oldest are forgotten

  // Adds a driver allocation. In `block`, `leaf_name` is the name id of the library, and `place` is the DriverCall.
  void Allocate(const LiveBlock& block);
  void Free(std::uint32_t device, std::uint64_t address, std::uint64_t serial);
  void AddReading(std::uint32_t device, const DeviceReading& reading);
  // Call it when recording resumes. Removes blocks that were allocated before `tick`, because they may have been freed
  // while recording was off.
  void ForgetBefore(std::uint64_t tick);

  const LiveBlockTable& blocks() const { return blocks_; }
  const std::map<std::uint32_t, DeviceReadings>& readings() const { return readings_; }  // by device id

 private:
  struct EarlyFree {
    std::uint32_t device;
    std::uint64_t address;
    std::uint64_t serial;
  };
  bool IsFreed(const LiveBlock& block) const;

  LiveBlockTable blocks_{kMaxBlocks};
  // Frees of unknown blocks. The allocation of such a block was not recorded, or it will be added later.
  std::deque<EarlyFree> early_frees_;
  std::map<std::uint32_t, DeviceReadings> readings_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_STATE_DRIVER_STATE_H_
