#include "tools/analyze/summary/device_focus.h"

#include <algorithm>
#include <array>
#include <cstddef>

namespace memoir {
namespace {

template <std::size_t size>
void Add(const std::array<SummaryColumns, size>& more, std::array<SummaryColumns, size>& sums) {
  for (std::size_t i = 0; i < size; ++i) sums[i] += more[i];
}

void FocusRow(const Summary& summary, const std::vector<bool>& in_focus, SummaryRow& row) {
  row.total = SummaryColumns();
  row.module.by_phase = {};
  row.parameter.by_part = {};
  for (std::size_t i = 0; i < summary.devices.size(); ++i) {
    if (!in_focus[i]) continue;
    if (i < row.by_device.size()) row.total += row.by_device[i];
    if (i < row.module.by_device.size()) Add(row.module.by_device[i], row.module.by_phase);
    if (i < row.parameter.by_device.size()) Add(row.parameter.by_device[i], row.parameter.by_part);
  }
}

}  // namespace

bool IsInFocus(const Summary& summary, const DeviceRow& device) {
  return device.caching || std::ranges::none_of(summary.devices, &DeviceRow::caching);
}

Summary FocusSummary(const Summary& summary) {
  std::vector<bool> in_focus;
  for (const DeviceRow& device : summary.devices) in_focus.push_back(IsInFocus(summary, device));
  if (std::ranges::find(in_focus, false) == in_focus.end()) return summary;
  Summary focused = summary;
  focused.phases = {};
  for (SummaryRow& row : focused.rows) {
    FocusRow(summary, in_focus, row);
    for (std::size_t phase = 0; phase < kPhases; ++phase) focused.phases[phase] += row.module.by_phase[phase];
    if (row.kind == SummaryRow::Kind::kEvicted) focused.phases[static_cast<std::size_t>(Phase::kOther)] += row.total;
  }
  focused.compiled_allocations = focused.compiled_bytes = 0;
  for (std::size_t i = 0; i < in_focus.size(); ++i) {
    if (!in_focus[i]) continue;
    focused.compiled_allocations += summary.devices[i].compiled_allocations;
    focused.compiled_bytes += summary.devices[i].compiled_bytes;
  }
  return focused;
}

}  // namespace memoir
