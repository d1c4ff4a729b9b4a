// The serials of repeated events on devices with a caching allocator: a row goes on with that of the device's last
// event in rows, plus what it says the device has had in between.
#ifndef TOOLS_MODEL_REPEAT_SERIALS_H_
#define TOOLS_MODEL_REPEAT_SERIALS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/joined_rows.h"

namespace memoir {

class RepeatSerials {
 public:
  explicit RepeatSerials(const JoinedRows& joined) : joined_(joined) {}

  // Rows are taken one after the other: a row, then its events.
  void BeginRow(std::size_t row);
  std::uint64_t Next(std::uint32_t device);

  // The next of the rows before which a device has had no other events.
  std::size_t RowsInStep(std::size_t first_row, std::size_t end_row);
  // Passes over rows in step. Returns the serials before them of the devices in them.
  absl::flat_hash_map<std::uint32_t, std::uint64_t> PassOver(std::size_t first_row, std::size_t end_row);

  // That RowsInStep took in all, copies included.
  std::uint64_t compared() const { return compared_; }
  // Behind the last row: the first chunk whose rows take other serials than it gives; nothing: none.
  std::optional<std::size_t> Misfit() const;

 private:
  struct EventsOfDevice {
    std::uint32_t device = 0;
    std::uint64_t events = 0;
  };
  using EventsByDevice = std::vector<EventsOfDevice>;  // in the order in which the devices come
  struct OfDevice {
    std::uint64_t next = 0;
    std::size_t chunk = ~std::size_t{0};  // of its last row
  };
  struct Taken {
    std::size_t chunk = 0, next = 0;
    absl::flat_hash_map<std::uint32_t, OfDevice> serials;
    std::optional<std::size_t> misfit;
  };
  const EventsByDevice& EventsOf(std::size_t row);  // of rows that are mostly alike
  void EnterChunkOf(std::size_t row, Taken& taken) const;
  bool TakeDelta(std::uint32_t device, Taken& taken) const;  // whether the device is in step
  void CheckChunk(Taken& taken) const;

  const JoinedRows& joined_;
  Taken taken_;
  std::uint64_t compared_ = 0;
  std::vector<std::uint32_t> devices_in_row_;
  absl::flat_hash_map<std::tuple<const Stretch*, std::uint32_t, std::uint32_t>, EventsByDevice> events_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPEAT_SERIALS_H_
