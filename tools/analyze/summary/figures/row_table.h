// The columns of a summary while a replay runs: a cell for each device and group, and totals for each device.
//
// It is known only afterwards which instant was the peak or the end. Copying all cells at each new peak would be slow.
// Instead, a cell stores its value before its first change after the latest peak. A cell also stores its value before
// its first change after the end of a window.
#ifndef TOOLS_ANALYZE_SUMMARY_FIGURES_ROW_TABLE_H_
#define TOOLS_ANALYZE_SUMMARY_FIGURES_ROW_TABLE_H_

#include <cstdint>
#include <vector>

#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/summary/figures/summary_columns.h"
#include "tools/model/event/event.h"

namespace memoir {

// A group has two cells: for blocks that were allocated in the window, and for blocks that were live before it.
using CellNumber = std::uint32_t;
constexpr CellNumber CellOf(Group group, bool before) { return 2 * group + (before ? 1 : 0); }
constexpr Group GroupOf(CellNumber cell) { return cell / 2; }
constexpr bool IsBefore(CellNumber cell) { return cell % 2 != 0; }

struct LiveCount {
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
};

// A cell's value at the latest of several instants. It is stored before the first change after an instant.
struct NotedCount {
  LiveCount value;
  std::uint64_t instant = 0;  // number of the instant; 0: before the first, when all values were 0

  void NoteBeforeChange(const LiveCount& live, std::uint64_t latest) {
    if (instant == latest) return;
    instant = latest;
    value = live;
  }
  LiveCount ValueAsOf(const LiveCount& live, std::uint64_t latest) const { return instant == latest ? value : live; }
};

struct Cell {
  SummaryColumns columns;  // all columns but those at the peak and at the end
  LiveCount live;
  NotedCount at_peak;
  NotedCount at_end;
  std::uint64_t life_ticks = 0;     // sum over freed blocks of the ticks from allocation to deallocation
  std::uint64_t unknown_lives = 0;  // deallocations at an unknown time
};

// The totals of a device, and its cells.
struct DeviceTable {
  bool used = false;
  ProcessId process;
  LiveCount live;
  LiveCount peak;
  Tick peak_tick = 0;
  std::uint64_t peaks = 0;  // number of peaks so far, the instants of Cell::at_peak
  LiveCount begin;          // when the first window of the process opened
  LiveCount end;            // when the newest window closed
  std::uint64_t ends = 0;   // number of window ends so far, the instants of Cell::at_end
  // Storages that were first seen as arguments, and their bytes (DeviceRow::first_seen_storages).
  std::uint64_t first_seen = 0;
  std::uint64_t first_seen_bytes = 0;
  std::vector<Cell> cells;  // by CellNumber
};

// The effect of one repeat group on a cell. The comparison of two effects ignores how long their blocks lived.
struct CellChange {
  SummaryColumns columns;
  std::uint64_t life_ticks = 0;
  std::uint64_t unknown_lives = 0;
  bool operator==(const CellChange& other) const {
    return columns == other.columns && unknown_lives == other.unknown_lives;
  }
};
using TableChange = std::vector<std::vector<CellChange>>;  // by DeviceId and CellNumber

class RowTable {
 public:
  // Adds a block that becomes live. `counts`: true if its allocation is an event in the window.
  void Add(const Block& block, ProcessId process, CellNumber cell, bool counts, bool in_window, Tick tick);
  // Removes a block. `temporary`: true if the operator call that allocated the block had not ended. `known`: true if
  // the block ended at `tick`; false if it ended at an unknown earlier time.
  void Remove(const Block& block, bool in_window, bool temporary, bool known, Tick tick);

  // Adds a segment that the allocator reserved for the group.
  void AddReserved(DeviceId id, ProcessId process, CellNumber cell, std::uint64_t bytes);

  TableChange Sums() const;  // returns the sums of each cell so far
  // Adds `change` event.times times. `ticks`: length of the repeat group that caused `change`. The lives of the blocks
  // are multiplied by the length of all repeats, divided by `ticks`.
  void Add(const TableChange& change, Tick ticks, const RepeatedEvent& event);

  // `first`: true for the first window of the process.
  void OpenWindow(ProcessId process, Tick tick, bool first);
  void CloseWindow(ProcessId process);

  // Returns the table of a device, and marks the device as used, so that it gets a row.
  DeviceTable& device(DeviceId id, ProcessId process) {
    if (id.value >= devices_.size()) devices_.resize(id.value + 1);
    DeviceTable& device = devices_[id.value];
    device.used = true;
    device.process = process;
    return device;
  }
  std::vector<DeviceTable>& devices() { return devices_; }  // by DeviceId
  // Returns the cell's columns, with the values that are known only at the end.
  static SummaryColumns Finish(const Cell& cell, const DeviceTable& device, double ns_per_tick);

 private:
  static constexpr CellNumber kNotFollowed = 0xffffffffu;
  void NotePeak(DeviceTable& device, Tick tick);
  CellNumber& CellAt(const Block& block);

  std::vector<DeviceTable> devices_;
  std::vector<CellNumber> cell_of_slot_;          // by Block::slot
  CellNumber cell_of_late_block_ = kNotFollowed;  // cell of the newest block without a slot
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_FIGURES_ROW_TABLE_H_
