// The rows of a chunk that name stretches (Repeats of the capture) while they grow. One thread.
#ifndef TRACKER_WRITER_REPEAT_ROWS_H_
#define TRACKER_WRITER_REPEAT_ROWS_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "tracker/writer/varint_column.h"

namespace memoir {

class RepeatRows {
 public:
  bool empty() const { return rows_ == 0 && open_.events == 0; }
  // Encoded, about, and something for the events that a reader makes of them, so that chunks stay of a size.
  std::size_t bytes() const { return 8 * rows_ + address_delta_.size() + events_ / 2; }

  // This event of a stretch has come again.
  void Add(std::uint32_t stretch, std::uint32_t event, std::uint64_t step, std::uint64_t tick);
  // Its serial, where its device has a caching allocator. In a row each is the one before of the device plus 1; false:
  // this is not, and the event has to begin a row (call CloseRow, then Add again).
  bool FitsSerial(std::uint32_t device, std::uint64_t serial) const;
  void PutSerial(std::uint32_t device, std::uint64_t serial);
  // That was a step's mark.
  void SetStepNumber(std::uint64_t number) {
    open_.step_number = number;
    open_.has_step_number = true;
  }
  // The last event frees the block there.
  void PutAddress(std::uint64_t address) {
    address_delta_.PutDelta(address, last_address_);
    last_address_ = address;
  }
  void CloseRow();
  // For an address row: PutLiving for each block, in the order of their allocations, then AddAddressRow.
  void PutLiving(std::uint64_t address, std::uint64_t serial) {
    PutAddress(address);
    living_serial_.PutDelta(serial, last_living_serial_);
    last_living_serial_ = serial;
  }
  void AddAddressRow(std::uint32_t addresses);

  // Appends a Repeats to a Payload, unless empty; no row may be open.
  void AddTo(std::string* payload) const;
  void Clear();

 private:
  struct Serials {
    std::uint32_t device;
    std::uint64_t first, next;
  };
  struct Open {
    std::uint32_t stretch = 0, first_event = 0, events = 0;
    std::uint64_t first_tick = 0, last_tick = 0;
    std::uint64_t step = 0, step_number = 0;
    bool has_step_number = false;
  };
  void Put(const Open& row);

  Open open_;
  std::vector<Serials> open_serials_;  // of devices in the row, in the order in which they come
  std::size_t rows_ = 0;
  std::uint64_t events_ = 0;
  bool any_first_event_ = false;
  // Of the rows before.
  std::uint64_t last_tick_ = 0, last_step_ = 0, last_step_number_ = 0, last_address_ = 0, last_living_serial_ = 0;
  std::vector<Serials> last_serials_;
  VarintColumn stretch_, first_event_, row_events_, tick_delta_, ticks_, step_delta_, step_number_, serial_delta_,
      address_delta_, living_serial_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_REPEAT_ROWS_H_
