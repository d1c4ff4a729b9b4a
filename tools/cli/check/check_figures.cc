#include "tools/cli/check/check_figures.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "tools/model/import_source.h"
#include "tools/view/capture/capture_text.h"
#include "tools/view/capture/unrecorded_text.h"
#include "tools/view/terminal/terminal_text.h"

namespace memoir {
namespace {

// The worst figure of all devices: the largest, but for least_free the smallest.
class Worst {
 public:
  explicit Worst(bool least = false) : least_(least) {}
  void Add(double value) {
    if (!value_ || (least_ ? value < *value_ : value > *value_)) value_ = value;
  }
  std::optional<double> value() const { return value_; }

 private:
  bool least_;
  std::optional<double> value_;
};

double Share(double part, double whole) { return whole == 0 ? 0 : 100 * part / whole; }

std::optional<double> OfSummary(std::string_view figure, const Summary& summary) {
  Worst worst(figure == "least_free");
  double sum = 0;
  for (const DeviceRow& device : summary.devices) {
    if (figure == "least_free" && device.least_free) worst.Add(static_cast<double>(*device.least_free));
    if (figure == "outside_torch" && device.least_free) worst.Add(static_cast<double>(device.outside_bytes));
    sum += static_cast<double>(figure == "num_ooms" ? device.num_ooms : device.num_alloc_retries.value_or(0));
    if (!device.caching) continue;
    if (figure == "peak_allocated") worst.Add(static_cast<double>(device.peak_allocated_bytes));
    if (figure == "peak_active") worst.Add(static_cast<double>(device.peak_active_bytes));
    if (figure == "peak_reserved") worst.Add(static_cast<double>(device.peak_reserved_bytes));
  }
  if (figure == "num_ooms") return std::max(sum, static_cast<double>(summary.out_of_memory.size()));
  if (figure != "num_alloc_retries") return worst.value();
  const auto known = [](const DeviceRow& device) { return device.num_alloc_retries.has_value(); };
  return std::ranges::all_of(summary.devices, known) ? std::optional(sum) : std::nullopt;
}

// Returns the largest peak of the selected devices. A selected device may also be the CPU.
std::optional<double> PeakOf(const Summary& summary) {
  Worst worst;
  for (const DeviceRow& device : summary.devices) worst.Add(static_cast<double>(device.peak_allocated_bytes));
  return worst.value();
}

std::optional<double> OfFragmentation(bool percent, const Fragmentation& fragmentation) {
  Worst worst;
  for (const FragmentedDevice& device : fragmentation.devices) {
    const auto bytes = static_cast<double>(device.peak.unusable);
    worst.Add(percent ? Share(bytes, static_cast<double>(device.peak.reserved)) : bytes);
  }
  return worst.value();
}

std::optional<double> OfBalance(bool percent, const Balance& balance) {
  Worst worst;
  for (const DeviceBalance& device : balance.devices) {
    if (!device.unexplained || !device.used) continue;
    const double bytes = std::fabs(static_cast<double>(*device.unexplained));
    worst.Add(percent ? Share(bytes, static_cast<double>(*device.used)) : bytes);
  }
  return worst.value();
}

bool IsOfTheDriver(std::string_view figure) {
  return figure == "outside_torch" || figure == "least_free" || figure == "unexplained";
}

// Returns true if the GPU allocator of a process was recorded only by its driver calls.
bool IsAtDeviceLevel(const FigureSources& checked) {
  return std::ranges::any_of(checked.summary.processes, [&](const ProcessRow& process) {
    const auto& sources = checked.capture.processes()[process.process.value].info.sources();
    return std::ranges::find(sources, "cuda-device-level") != sources.end();
  });
}

bool HasGpu(const Summary& summary) {
  return std::ranges::any_of(summary.devices, [](const DeviceRow& row) { return row.name.starts_with("cuda"); });
}

std::string WhyUnknown(std::string_view figure, const FigureSources& checked) {
  if (!HasGpu(checked.summary) && checked.balance.devices.empty()) {
    return checked.device ? "nothing of " + Escaped(*checked.device) + " is recorded"
                          : "no GPU memory is recorded; of the host's memory: --device cpu";
  }
  if (checked.summary.is_partly_evicted && !checked.capture.processes().empty())
    return "it was in parts that --max-size evicted; record with a larger --max-size";
  if (figure == "num_alloc_retries" && IsImported(checked.capture))
    return DescribeImport(ImportSourceOf(checked.capture)) + " does not have it";
  if (IsOfTheDriver(figure)) return "no sample of the device is recorded (docs/balance.md)";
  if (IsAtDeviceLevel(checked)) {
    return "it is a figure of torch's caching allocator, which was not in use (cudaMallocAsync, a pluggable allocator, "
           "or no cache); least_free and outside_torch are known";
  }
  return "torch's CUDA allocator allocated nothing";
}

bool NeedsTorchsMemory(std::string_view figure) { return figure != "outside_torch" && figure != "least_free"; }

// If torch's CUDA allocator was not recorded for some time, marks the figure as incomplete. If none of its memory was
// recorded, marks the figure as unknown, because its value would be 0.
void TakeUnknown(const FigureSources& checked, CheckedFigure& found) {
  const std::string unknown = CudaMemoryNotKnown(checked.summary.report);
  if (unknown.empty()) return;
  const bool any = std::ranges::any_of(checked.summary.devices, [](const DeviceRow& device) {
    return device.caching && device.peak_allocated_bytes > 0;
  });
  if (any && found.value) {
    found.incomplete = unknown;
    return;
  }
  found.value.reset();
  found.unknown = unknown;
}

}  // namespace

CheckedFigure FigureOf(std::string_view figure, const std::string& of, bool percent, const FigureSources& checked) {
  CheckedFigure found;
  found.least = figure == "least_free";
  if (!of.empty()) {
    const absl::StatusOr<std::uint64_t> bytes = checked.bytes_of(figure, of);
    if (bytes.ok()) found.value = static_cast<double>(*bytes);
    found.unknown = bytes.ok() ? "" : std::string(bytes.status().message());
    found.incomplete = RecordingWasOff(checked.summary.report);
    if (!checked.device || checked.device->starts_with("cuda")) TakeUnknown(checked, found);
    return found;
  }
  const bool of_host = checked.device && !checked.device->starts_with("cuda");
  if (of_host && figure == "peak_allocated") {
    found.value = PeakOf(checked.summary);
    found.incomplete = RecordingWasOff(checked.summary.report);
    if (!found.value) found.unknown = "nothing of " + Escaped(*checked.device) + " is recorded";
    return found;
  }
  if (of_host) {
    found.unknown = "it is a figure of GPUs, and --device " + Escaped(*checked.device) + " is no GPU";
    return found;
  }
  if (figure == "unusable") {
    found.value = OfFragmentation(percent, checked.fragmentation);
  } else if (figure == "unexplained") {
    found.value = OfBalance(percent, checked.balance);
  } else {
    found.value = OfSummary(figure, checked.summary);
  }
  if (!found.value) found.unknown = WhyUnknown(figure, checked);
  // `unexplained` is the figure of one instant, so a time without recording does not make it incomplete.
  if (figure != "unexplained") found.incomplete = RecordingWasOff(checked.summary.report);
  if (NeedsTorchsMemory(figure)) TakeUnknown(checked, found);
  return found;
}

}  // namespace memoir
