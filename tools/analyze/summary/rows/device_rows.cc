#include "tools/analyze/summary/rows/device_rows.h"

#include <algorithm>
#include <utility>

namespace memoir {
namespace {

void AddEvictedDevice(const EvictedDevice& evicted, DeviceRow& row) {
  row.evicted_peak_bytes = evicted.totals.peak_bytes();
  row.evicted_peak_ns = evicted.peak_ns;
  row.evicted_allocations = evicted.totals.allocations();
  row.evicted_allocated_bytes = evicted.totals.allocated_bytes();
  row.evicted_deallocations = evicted.totals.deallocations();
  row.evicted_live_bytes = evicted.totals.live_bytes();
  row.live_bytes_at_begin = 0;  // at the begin of the recording
  if (evicted.totals.peak_active_bytes() > row.peak_active_bytes) {
    row.peak_active_bytes = evicted.totals.peak_active_bytes();
    row.peak_active_ns = 0;  // unknown
  }
  if (evicted.totals.peak_reserved_bytes() > row.peak_reserved_bytes) {
    row.peak_reserved_bytes = evicted.totals.peak_reserved_bytes();
    row.peak_reserved_ns = 0;
  }
  // If the peak in the evicted parts equals the peak in the remaining parts, the peak in the remaining parts counts,
  // because its live blocks are known.
  if (evicted.totals.peak_bytes() <= row.peak_allocated_bytes) return;
  row.peak_is_evicted = true;
  row.newest_peak_bytes = std::exchange(row.peak_allocated_bytes, evicted.totals.peak_bytes());
  row.newest_peak_ns = std::exchange(row.peak_ns, evicted.peak_ns);
  row.peak_blocks = 0;
  row.peak_operator.clear();
  row.peak_line = {};
  row.peak_range.clear();
  row.peak_module.clear();
  row.peak_step.reset();
}

}  // namespace

void DeviceRows::AddRows() {
  for (std::size_t i = 0; i < shared_.table.devices().size(); ++i) {
    const DeviceTable& table = shared_.table.devices()[i];
    if (!table.used) continue;
    const DeviceId id{static_cast<std::uint32_t>(i)};
    shared_.summary.devices.push_back(RowOf(id, table));
    ids_.push_back(id);
  }
}

DeviceRow DeviceRows::RowOf(DeviceId id, const DeviceTable& table) {
  const DeviceInfo& info = shared_.dictionary().device(id);
  DeviceRow row;
  row.name = ToString(info);
  row.product = info.product;
  row.process = table.process;
  row.rank = shared_.window.capture().processes()[table.process.value].rank();
  row.peak_allocated_bytes = table.peak.bytes;
  row.peak_blocks = table.peak.blocks;
  row.peak_ns = table.peaks == 0 ? 0 : shared_.replay().Nanoseconds(table.process, table.peak_tick);
  handlers_.peaks.FillRow(id, handlers_.steps.SourceOf(table.process), row);
  row.live_bytes_at_begin = table.begin.bytes;
  row.live_bytes_at_end = table.end.bytes;
  row.live_blocks_at_end = table.end.blocks;
  row.first_seen_storages = table.first_seen;
  row.first_seen_bytes = table.first_seen_bytes;
  handlers_.caching.FillRow(id, table, row);
  handlers_.outside.FillRow(id, row);
  if (const EvictedDevice* evicted = handlers_.evicted.DeviceOf(id)) AddEvictedDevice(*evicted, row);
  return row;
}

std::size_t DeviceRows::ColumnOf(DeviceId id) const {
  return static_cast<std::size_t>(std::find(ids_.begin(), ids_.end(), id) - ids_.begin());
}

}  // namespace memoir
