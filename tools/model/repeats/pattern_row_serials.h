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

  // Take the rows in their order. For each row, call BeginRow, and then NextSerial for each event on a device with a
  // caching allocator.
  void BeginRow(std::size_t row);
  std::uint64_t NextSerial(std::uint32_t device);

  // Counts the rows from `first_row` on, and stops at `end_row`, which is not counted. Also stops at a row if one of
  // the row's devices had an event outside of pattern rows after the device's previous event in a row. This row is not
  // counted either.
  std::size_t CountUninterruptedRows(std::size_t first_row, std::size_t end_row);
  // Advances past the rows, which the replay collapses: from `first_row` on, without `end_row`. Returns, for each of
  // their devices, the serial of the device's first event in these rows.
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
    std::uint64_t next = 0;               // serial after the device's last event in a row
    std::size_t chunk = ~std::size_t{0};  // index of the chunk of the device's last row
  };
  struct SerialCursor {
    std::size_t chunk = 0, next = 0;                           // next: index of the next delta of the chunk
    absl::flat_hash_map<std::uint32_t, DeviceSerial> serials;  // by device
    std::optional<std::size_t> misfit;                         // index of the first chunk that does not fit its rows
  };
  const EventsByDevice& EventsOf(std::size_t row);  // keeps its results in events_, because most rows are alike
  void EnterChunkOf(std::size_t row, SerialCursor& cursor) const;
  bool TakeDelta(std::uint32_t device, SerialCursor& cursor) const;  // true: the device had no events outside of rows
  void CheckChunk(SerialCursor& cursor) const;

  const JoinedPatternRows& joined_;
  SerialCursor serial_cursor_;
  std::uint64_t compared_ = 0;
  std::vector<std::uint32_t> devices_in_row_;  // devices for which NextSerial was called since BeginRow
  // By pattern, first event and number of events of a row.
  absl::flat_hash_map<std::tuple<const StepPattern*, std::uint32_t, std::uint32_t>, EventsByDevice> events_;
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPEATS_PATTERN_ROW_SERIALS_H_
