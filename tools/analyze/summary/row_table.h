// The columns of an analysis while a replay runs: a cell for every (device, group), and totals per device.
//
// What was live at the peak and at the end is known only afterwards. Instead of copying all cells at every new peak, a
// cell notes its value as of the latest peak when it changes for the first time after it; the same at the end of each
// window.
#ifndef TOOLS_ANALYZE_SUMMARY_ROW_TABLE_H_
#define TOOLS_ANALYZE_SUMMARY_ROW_TABLE_H_

#include <cstdint>
#include <vector>

#include "tools/analyze/grouping/grouping.h"
#include "tools/analyze/summary/summary.h"
#include "tools/model/event.h"

namespace memoir {

// A group has two cells: of blocks that were allocated in the window, and of those that were live before it.
using CellNumber = std::uint32_t;
constexpr CellNumber CellOf(Group group, bool before) { return 2 * group + (before ? 1 : 0); }
constexpr Group GroupOf(CellNumber cell) { return cell / 2; }
constexpr bool IsBefore(CellNumber cell) { return cell % 2 != 0; }

struct LiveCount {
  std::uint64_t bytes = 0;
  std::uint64_t blocks = 0;
};

// A value as of the latest of some instants, kept without touching it at those instants.
struct Noted {
  LiveCount value;
  std::uint64_t instant = 0;  // 0: before the first, when nothing counted

  void BeforeChange(const LiveCount& live, std::uint64_t latest) {
    if (instant == latest) return;
    instant = latest;
    value = live;
  }
  LiveCount AsOf(const LiveCount& live, std::uint64_t latest) const { return instant == latest ? value : live; }
};

struct Cell {
  Columns columns;  // all but those at the peak and at the end
  LiveCount live;
  Noted at_peak;
  Noted at_end;
  std::uint64_t life_ticks = 0;
  std::uint64_t unknown_lives = 0;
};

struct DeviceTable {
  bool used = false;
  ProcessId process;
  LiveCount live;
  LiveCount peak;
  Tick peak_tick = 0;
  std::uint64_t peaks = 0;  // instants for Noted
  LiveCount begin;
  LiveCount end;
  std::uint64_t ends = 0;
  std::uint64_t first_seen = 0;
  std::uint64_t first_seen_bytes = 0;
  std::vector<Cell> cells;  // by CellNumber
};

// What one cycle of steps adds to a cell. Two are alike whose blocks lived for other times.
struct CellChange {
  Columns columns;
  std::uint64_t life_ticks = 0;
  std::uint64_t unknown_lives = 0;
  bool operator==(const CellChange& other) const {
    return columns == other.columns && unknown_lives == other.unknown_lives;
  }
};
using TableChange = std::vector<std::vector<CellChange>>;  // by DeviceId and CellNumber

class RowTable {
 public:
  // A block becomes live. `counts`: its allocation is an event of the window.
  void Add(const Block& block, ProcessId process, CellNumber cell, bool counts, bool in_window, Tick tick);
  // `known`: it ended at the tick; else somewhere before.
  void Remove(const Block& block, bool in_window, bool temporary, bool known, Tick tick);

  // A segment that the allocator took for the group.
  void AddReserved(DeviceId id, ProcessId process, CellNumber cell, std::uint64_t bytes);

  TableChange Sums() const;  // so far
  // As often as the event says. `ticks`: of the cycle; the longer its steps are, the longer their blocks live.
  void Add(const TableChange& change, Tick ticks, const RepeatedEvent& event);

  void OpenWindow(ProcessId process, Tick tick, bool first);
  void CloseWindow(ProcessId process);

  DeviceTable& device(DeviceId id, ProcessId process) {
    if (id.value >= devices_.size()) devices_.resize(id.value + 1);
    DeviceTable& device = devices_[id.value];
    device.used = true;
    device.process = process;
    return device;
  }
  std::vector<DeviceTable>& devices() { return devices_; }  // by DeviceId
  // Fills in what is known only at the end.
  static Columns Finish(const Cell& cell, const DeviceTable& device, double ns_per_tick);

 private:
  static constexpr CellNumber kNotFollowed = 0xffffffffu;
  void NotePeak(DeviceTable& device, Tick tick);
  CellNumber& CellAt(const Block& block);

  std::vector<DeviceTable> devices_;
  std::vector<CellNumber> cell_of_slot_;  // by Block::slot
  CellNumber cell_of_late_block_ = kNotFollowed;
};

}  // namespace memoir

#endif  // TOOLS_ANALYZE_SUMMARY_ROW_TABLE_H_
