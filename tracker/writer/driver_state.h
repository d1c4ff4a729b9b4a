// What the driver has given and not got back, and what it last said of its devices: keyframes say it.
//
// Events may come in any order between threads: of one address the serials decide. Bounded. One thread.
#ifndef TRACKER_WRITER_DRIVER_STATE_H_
#define TRACKER_WRITER_DRIVER_STATE_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>

#include "tracker/writer/live_table.h"

namespace memoir {

// Numbers as DeviceReadingRecord has them.
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

struct DeviceReadings {
  DeviceReading first, least_free, newest;
};

class DriverState {
 public:
  static constexpr std::size_t kMaxBlocks = 64 * 1024;  // as many as the hooks know
  static constexpr std::size_t kMaxDevices = 64;        // with readings
  static constexpr std::size_t kMaxEarlyFrees = 1024;   // the oldest are forgotten

  // Of the block, `leaf_name` is the library and `place` the DriverCall.
  void Allocate(const LiveBlock& block);
  void Free(std::uint32_t device, std::uint64_t address, std::uint64_t serial);
  void Read(std::uint32_t device, const DeviceReading& reading);
  // Recording was off until `tick`: whether a block from before still lives is not known, so none is taken to.
  void ForgetBefore(std::uint64_t tick);

  const LiveTable& blocks() const { return blocks_; }
  const std::map<std::uint32_t, DeviceReadings>& readings() const { return readings_; }  // by device id

 private:
  struct EarlyFree {
    std::uint32_t device;
    std::uint64_t address;
    std::uint64_t serial;
  };
  bool IsFreed(const LiveBlock& block) const;

  LiveTable blocks_{kMaxBlocks};
  // Of blocks that are not known: from before the recording, or their allocation is yet to come.
  std::deque<EarlyFree> early_frees_;
  std::map<std::uint32_t, DeviceReadings> readings_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_DRIVER_STATE_H_
