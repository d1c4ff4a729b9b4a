#include "tools/analyze/fit_recording.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "tools/analyze/summary.h"

namespace memoir {
namespace {

std::optional<std::size_t> DeviceIndex(const Capture& capture, const Summary& summary, std::uint64_t pid,
                                       const std::string& name) {
  for (std::size_t i = 0; i < summary.devices.size(); ++i) {
    const DeviceRow& device = summary.devices[i];
    if (device.name == name && capture.processes()[device.process.value].info.pid() == pid) return i;
  }
  return std::nullopt;
}

std::vector<FitRow> Sorted(std::vector<FitRow> rows) {
  std::erase_if(rows, [](const FitRow& row) { return row.bytes == 0; });
  std::ranges::stable_sort(rows, [](const FitRow& a, const FitRow& b) { return a.bytes > b.bytes; });
  return rows;
}

std::vector<FitRow> RowsAtPeak(const Summary& summary, std::size_t device) {
  std::vector<FitRow> rows;
  for (const Row& row : summary.rows) {
    if (device < row.by_device.size()) rows.push_back({row.name, row.by_device[device].bytes_at_peak});
  }
  return Sorted(std::move(rows));
}

std::vector<FitRow> PhasesAtPeak(const Summary& summary) {
  std::vector<FitRow> rows;
  for (std::size_t i = 0; i < kPhases; ++i)
    rows.push_back({std::string(ToString(static_cast<Phase>(i))), summary.phases[i].bytes_at_peak});
  return Sorted(std::move(rows));
}

}  // namespace

absl::StatusOr<std::optional<FitRecording>> AnalyzeFitRecording(const Capture& capture, std::uint64_t pid,
                                                                std::uint64_t ordinal) {
  SummaryOptions options;
  const std::string name = "cuda:" + std::to_string(ordinal);
  const auto summary = AnalyzeSummary(capture, options);
  if (!summary.ok()) return summary.status();
  const auto device = DeviceIndex(capture, *summary, pid, name);
  if (!device || summary->devices[*device].peak_allocated_bytes == 0) return std::optional<FitRecording>();
  FitRecording recording;
  recording.peak_allocated = summary->devices[*device].peak_allocated_bytes;
  recording.by_operator = RowsAtPeak(*summary, *device);
  options.by = GroupBy::kModule;
  options.device = name;  // so that phases are this device's
  const auto modules = AnalyzeSummary(capture, options);
  if (!modules.ok()) return modules.status();
  if (const auto index = DeviceIndex(capture, *modules, pid, name)) recording.by_module = RowsAtPeak(*modules, *index);
  if (modules->devices.size() == 1) recording.by_phase = PhasesAtPeak(*modules);
  return std::optional(std::move(recording));
}

}  // namespace memoir
