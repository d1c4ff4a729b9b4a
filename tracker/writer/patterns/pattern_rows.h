// Collects the pattern rows of a chunk, and encodes them (Repeats in capture.proto). One thread.
#ifndef TRACKER_WRITER_PATTERNS_PATTERN_ROWS_H_
#define TRACKER_WRITER_PATTERNS_PATTERN_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tracker/writer/events/varint_column.h"

namespace memoir {

class PatternRows {
 public:
  bool empty() const { return rows_ == 0 && open_.events == 0; }
  // Returns the approximate size of the encoded rows, plus half a byte for each of their events. Without this addition
  // a chunk could contain far more events than others, because a row of a few bytes may stand for many events.
  std::size_t bytes() const { return 8 * rows_ + address_delta_.size() + events_ / 2; }

  // Adds an event of a step that repeats a pattern. `event`: index of the event in the pattern. Begins a new row if the
  // open row has another pattern or another step.
  void Add(std::uint32_t pattern, std::uint32_t event, std::uint64_t step, std::uint64_t tick);
  // For events on a device with a caching allocator: within a row, each serial of a device must be the previous serial
  // plus 1. Call FitsSerial before Add. If it returns false, call CloseRow, so that the event begins a new row. Call
  // PutSerial after Add.
  bool FitsSerial(std::uint32_t device, std::uint64_t serial) const;
  void PutSerial(std::uint32_t device, std::uint64_t serial);
  // Sets the number of the step. Call it directly after Add of a step mark.
  void SetStepNumber(std::uint64_t number) {
    open_.step_number = number;
    open_.has_step_number = true;
  }
  // Adds the address of the block that the last added event frees.
  void PutAddress(std::uint64_t address) {
    address_delta_.PutDelta(address, last_address_);
    last_address_ = address;
  }
  void CloseRow();
  // An address row lists the addresses of blocks that are still live after a row (pattern_matcher.h). To add an address
  // row, call PutLiveBlock for each block, in the order of the blocks' allocations, and then AddAddressRow.
  void PutLiveBlock(std::uint64_t address, std::uint64_t serial) {
    PutAddress(address);
    living_serial_.PutDelta(serial, last_living_serial_);
    last_living_serial_ = serial;
  }
  void AddAddressRow(std::uint32_t addresses);

  // Appends a Repeats to a Payload, unless there are no rows. No row may be open.
  void AddTo(std::string* payload) const;
  void Clear();

 private:
  struct DeviceSerials {
    std::uint32_t device;
    std::uint64_t first, next;  // serial of the device's first event in the row; serial of its newest event, plus 1
  };
  struct OpenRow {
    std::uint32_t pattern = 0, first_event = 0, events = 0;
    std::uint64_t first_tick = 0, last_tick = 0;
    std::uint64_t step = 0, step_number = 0;
    bool has_step_number = false;
  };
  void Put(const OpenRow& row);

  OpenRow open_;
  std::vector<DeviceSerials> open_serials_;  // of the devices in the open row, in the order of their first events
  std::size_t rows_ = 0;
  std::uint64_t events_ = 0;
  bool any_first_event_ = false;
  // The values of the previous row, from which the differences are computed.
  std::uint64_t last_tick_ = 0, last_step_ = 0, last_step_number_ = 0, last_address_ = 0, last_living_serial_ = 0;
  std::vector<DeviceSerials> last_serials_;
  VarintColumn pattern_, first_event_, row_events_, tick_delta_, ticks_, step_delta_, step_number_, serial_delta_,
      address_delta_, living_serial_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_PATTERNS_PATTERN_ROWS_H_
