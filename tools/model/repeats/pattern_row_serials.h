// Assigns serials to the events of pattern rows on devices with a caching allocator. For each device of a row, a
// capture stores a delta: the number of events that the device had outside of rows since its last event in a row. So
// the device's first serial in the row is its last serial in rows, plus the delta, plus 1. All further serials of the
// device in the row follow without gaps.
#ifndef TOOLS_MODEL_REPEATS_PATTERN_ROW_SERIALS_H_
#define TOOLS_MODEL_REPEATS_PATTERN_ROW_SERIALS_H_

#include <cstddef>
#include <cstdint>
#include <optional>
#include <tuple>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/repeats/joined_pattern_rows.h"

namespace memoir {

class PatternRowSerials {
 public:
  explicit PatternRowSerials(const JoinedPatternRows& joined) : joined_(joined) {}

  // Rows are taken in order: BeginRow, then NextSerial for each event.
  void BeginRow(std::size_t row);
  std::uint64_t NextSerial(std::uint32_t device);

  // Counts rows, beginning with `first_row`, up to but not including `end_row`. Stops before the first row of a device
  // that had an event outside of pattern rows since the device's previous row.
  std::size_t CountUninterruptedRows(std::size_t first_row, std::size_t end_row);
  // Collapses the rows. Returns, for each of their devices, the serial of the device's first event in these rows.
  absl::flat_hash_map<std::uint32_t, std::uint64_t> Collapse(std::size_t first_row, std::size_t end_row);

  // The work of CountUninterruptedRows so far: the number of devices whose serials it copied, plus the number of rows
  // and of their devices that it compared.
  std::uint64_t compared() const { return compared_; }
  // Call this function after the last row. Returns the index of the first chunk whose number of serials does not fit
  // its rows. nullopt if all fit.
  std::optional<std::size_t> FindMisfit() const;

 private:
  struct DeviceEventCount {
    std::uint32_t device = 0;
    std::uint64_t events = 0;
  };
  using EventsByDevice = std::vector<DeviceEventCount>;  // in order of each device's first event
  struct DeviceSerial {
    std::uint64_t next = 0;
    std::size_t chunk = ~std::size_t{0};  // index of the chunk of the device's last row
  };
  struct SerialCursor {
    std::size_t chunk = 0, next = 0;
    absl::flat_hash_map<std::uint32_t, DeviceSerial> serials;
    std::optional<std::size_t> misfit;
  };
  const EventsByDevice& EventsOf(std::size_t row);  // cached, because most rows are alike
  void EnterChunkOf(std::size_t row, SerialCursor& cursor) const;
  bool TakeDelta(std::uint32_t device, SerialCursor& cursor) const;  // true: the device had no events outside of rows
  void CheckChunk(SerialCursor& cursor) const;

  const JoinedPatternRows& joined_;
  SerialCursor serial_cursor_;
  std::uint64_t compared_ = 0;
  std::vector<std::uint32_t> devices_in_row_;
  absl::flat_hash_map<std::tuple<const StepPattern*, std::uint32_t, std::uint32_t>, EventsByDevice> events_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPEATS_PATTERN_ROW_SERIALS_H_
