#include "tools/view/capture/device_text.h"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "tools/analyze/summary/device_focus.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/capture/line_text.h"
#include "tools/view/capture/unrecorded_text.h"
#include "tools/view/terminal/terminal_text.h"
#include "tools/view/terminal/units.h"

namespace memoir {
namespace {

constexpr std::size_t kNameInLine = 40;

// Returns `text` as an indented line, to be printed below the line of its device.
std::string Below(const Terminal& terminal, const std::string& text) {
  constexpr std::size_t kIndent = 4;
  return "  " + Wrapped(text, terminal.width - 2, kIndent) + "\n";
}

// Describes the bytes that the caching allocator reserved on the device; allocated bytes are a part of them.
std::string CachingLine(const DeviceRow& device, const Terminal& terminal) {
  if (!device.caching) return "";
  std::string line = "reserved at most " + FormatBytes(device.peak_reserved_bytes);
  if (device.reserved_bytes_at_peak > 0)
    line += fmt::format(" ({} at that peak)", FormatBytes(device.reserved_bytes_at_peak));
  if (device.active_known) line += fmt::format(", active {}", FormatBytes(device.peak_active_bytes));
  line += "; ";
  line += RetriesText(device) + ", ";
  return Below(terminal, line + FormatCounted(device.num_ooms, "out-of-memory error", "out-of-memory errors"));
}

// Describes the non-PyTorch memory at its peak.
std::string OutsideLine(const DeviceRow& device, const Terminal& terminal) {
  constexpr std::size_t kShown = 4;
  if (device.outside_bytes == 0) return "";
  std::string list;
  for (std::size_t i = 0; i < std::min(kShown, device.outside.size()); ++i) {
    list += fmt::format("{}{} {}", i == 0 ? "" : ", ", Shortened(Escaped(device.outside[i].name), kNameInLine),
                        FormatBytes(device.outside[i].bytes));
  }
  if (device.outside.size() > kShown) list += ", " + FormatCounted(device.outside.size() - kShown, "other", "others");
  return Below(terminal, fmt::format("non-PyTorch memory at most {} ({})", FormatBytes(device.outside_bytes), list));
}

// Describes a peak during compilation by torch.compile: the bytes of compiling, and the peak without them.
std::string CompileLine(const DeviceRow& device, const Terminal& terminal) {
  if (device.compile_bytes_at_peak == 0 || device.peak_is_evicted) return "";
  return Below(terminal,
               fmt::format("peak while compiling: {} of it is torch.compile's own; without it {}",
                           FormatBytes(device.compile_bytes_at_peak), FormatBytes(device.peak_without_compile_bytes)));
}

std::string UnknownLine(const std::string& label, const UnrecordedSpan& unknown, const Terminal& terminal) {
  constexpr std::size_t kIndent = 2;
  return Wrapped(label + ": memory not known: " + Escaped(unknown.why), terminal.width, kIndent) + "\n";
}

// Returns a line for each process whose CUDA memory is unknown and that has no row for a CUDA device.
std::vector<std::string> UnknownDevices(const Capture& capture, const Summary& summary, const Terminal& terminal) {
  std::vector<std::string> lines;
  for (const ProcessSummary& process : capture.processes()) {
    const UnrecordedSpan* unknown = summary.report.processes[process.id.value].UnknownCudaMemory();
    const bool has_row = std::ranges::any_of(summary.devices, [&](const DeviceRow& device) {
      return device.process == process.id && device.name.starts_with("cuda");
    });
    if (unknown != nullptr && !has_row)
      lines.push_back(UnknownLine(DeviceLabel(capture, "cuda", process.id), *unknown, terminal));
  }
  return lines;
}

// Returns the source line of the peak. Printed only for the largest device, because a summary has few lines.
std::string PeakLine(const DeviceRow& device) {
  if (!device.peak_line.known()) return "";
  constexpr std::size_t kWidth = 50;
  return "  the peak was reached at " + ShownLine(device.peak_line, kWidth) + "\n";
}

// Compares the selected blocks with all blocks. Empty if the selection leaves out no blocks.
std::string ChosenLine(const DeviceRow& device, const Terminal& terminal) {
  if (device.peak_of_all_bytes == 0) return "";
  return Below(terminal, fmt::format("{} of the {} in all blocks then",
                                     FormatShare(device.peak_allocated_bytes, device.peak_of_all_bytes),
                                     FormatBytes(device.peak_of_all_bytes)));
}

// Returns the line "cpu: peak 1.2 GiB at 0.3312 s in aten::mm, step 3; 12.0 MiB at the end", and further lines about
// the device.
std::string DeviceLine(const Capture& capture, const DeviceRow& device, const ReplayReport& report, bool largest,
                       const Terminal& terminal) {
  const std::string label = DeviceLabel(capture, device.name, device.process);
  const UnrecordedSpan* unknown = UnknownMemory(report, device.process, device.name);
  if (device.peak_allocated_bytes == 0 && unknown != nullptr)
    return UnknownLine(label, *unknown, terminal) + OutsideLine(device, terminal);
  if (device.peak_allocated_bytes == 0) return label + ": nothing was live\n" + OutsideLine(device, terminal);
  const std::string peak = (unknown == nullptr ? "peak " : "peak at least ") + FormatBytes(device.peak_allocated_bytes);
  std::string line = label + ": " + peak;
  line += " at " + FormatMoment(device.peak_ns);
  if (device.peak_is_evicted) {
    line += fmt::format(", in parts since evicted; at most {} after them", FormatBytes(device.newest_peak_bytes));
  }
  if (!device.peak_operator.empty()) line += " in " + Shortened(Escaped(device.peak_operator), kNameInLine);
  line += PeakRangeText(device);
  if (device.peak_step) line += fmt::format(", step {}", *device.peak_step);
  line += UnknownMemoryAtEnd(report, device.process, device.name) != nullptr
              ? "; not known at the end"
              : fmt::format("; {} at the end", FormatBytes(device.live_bytes_at_end));
  constexpr std::size_t kIndent = 2;
  line = Wrapped(line, terminal.width, kIndent);
  // The peak is painted after the line is wrapped, because colour codes would count as columns. A peak that contains a
  // line break stays plain.
  if (const std::size_t at = line.find(peak); at != std::string::npos)
    line.replace(at, peak.size(), Painted(terminal, Color::kBold, peak));
  return line + "\n" + ChosenLine(device, terminal) + (largest ? PeakLine(device) : "") +
         CompileLine(device, terminal) + CachingLine(device, terminal) + OutsideLine(device, terminal);
}

// Returns a key for sorting: host memory comes before GPUs, and small peaks before large peaks.
std::pair<bool, std::uint64_t> Importance(const DeviceRow& device) {
  return {device.caching, device.peak_allocated_bytes};
}

}  // namespace

std::string RetriesText(const DeviceRow& device) {
  return device.num_alloc_retries ? FormatCounted(*device.num_alloc_retries, "retry", "retries") : "retries not known";
}

std::string PeakRangeText(const DeviceRow& device) {
  if (!device.peak_module.empty()) {
    return fmt::format(", {} of {}", ToString(device.peak_phase),
                       Shortened(ShownName(device.peak_module), kNameInLine));
  }
  // An optimizer's range contains everything that its closure computes. If the closure reached the peak, the optimizer
  // is not the reason, so its range is not shown.
  const bool in_closure = device.peak_range.starts_with("Optimizer.step#") && device.peak_phase != Phase::kOptimizer;
  return device.peak_range.empty() || in_closure ? "" : ", range " + Shortened(Escaped(device.peak_range), kNameInLine);
}

std::size_t LargestDevice(const Summary& summary) {
  const auto largest = std::ranges::max_element(summary.devices, {}, &Importance);
  return static_cast<std::size_t>(largest - summary.devices.begin());
}

std::string RenderDevices(const Capture& capture, const Summary& summary, std::size_t top, const Terminal& terminal) {
  std::vector<const DeviceRow*> devices;
  for (const DeviceRow& device : summary.devices) devices.push_back(&device);
  std::ranges::stable_sort(devices, std::ranges::greater(), [](const DeviceRow* d) { return Importance(*d); });
  const std::size_t most = top == 0 ? devices.size() : std::max<std::size_t>(top, 4);
  std::string text;
  for (std::size_t i = 0; i < std::min(most, devices.size()); ++i)
    text += DeviceLine(capture, *devices[i], summary.report, i == 0, terminal);
  if (devices.size() > most)
    text +=
        fmt::format("and {} with smaller peaks\n", FormatCounted(devices.size() - most, "more device", "more devices"));
  const std::vector<std::string> unknown = UnknownDevices(capture, summary, terminal);
  for (std::size_t i = 0; i < std::min(most, unknown.size()); ++i) text += unknown[i];
  if (unknown.size() > most)
    text += fmt::format("and {} whose CUDA memory is not known\n",
                        FormatCounted(unknown.size() - most, "more process", "more processes"));
  return text;
}

std::string SelectedDevicesText(const Summary& summary) {
  const auto in_focus =
      std::ranges::count_if(summary.devices, [&](const auto& device) { return IsInFocus(summary, device); });
  if (static_cast<std::size_t>(in_focus) == summary.devices.size()) return "";
  return in_focus == 1 ? " on " + Escaped(summary.devices[LargestDevice(summary)].name) : " on GPUs";
}

}  // namespace memoir
