#include "tools/view/live/live_prometheus.h"

#include <string_view>
#include <utility>
#include <vector>

#include "fmt/format.h"
#include "tools/model/event/dictionary.h"

namespace memoir {
namespace {

std::string LabelValue(const std::string& text) {
  std::string value;
  for (const char c : ToUtf8(text)) {
    if (c == '\\' || c == '"') value += '\\';
    if (c == '\n') {
      value += "\\n";
    } else if (static_cast<unsigned char>(c) >= 0x20) {
      value += c;
    }
  }
  return value;
}

class Metrics {
 public:
  void Begin(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    head_ = fmt::format("# HELP memoir_{} {}\n# TYPE memoir_{} {}\n", name, help, name, type);
  }
  void Add(const std::string& labels, double value) { Line(labels, fmt::format("{:.6g}", value)); }
  void Add(const std::string& labels, std::uint64_t value) { Line(labels, fmt::format("{}", value)); }
  std::string Take() { return std::move(text_); }

 private:
  // Metrics without samples are left out.
  void Line(const std::string& labels, const std::string& value) {
    text_ += head_ + fmt::format("memoir_{}{{{}}} {}\n", name_, labels, value);
    head_.clear();
  }
  std::string text_, head_, name_;
};

std::string LabelsOf(const LiveProcess& process) {
  return fmt::format("rank=\"{}\",pid=\"{}\",program=\"{}\"", process.rank ? fmt::format("{}", *process.rank) : "",
                     process.pid, LabelValue(process.program));
}

std::string LabelsOf(const LiveProcess& process, const LiveMemory& device) {
  return LabelsOf(process) + fmt::format(",device=\"{}\"", LabelValue(device.name));
}

void AddProcesses(const LiveFigures& figures, Metrics& metrics) {
  const auto each = [&](const auto& add) {
    for (const LiveProcess& process : figures.processes) add(process, LabelsOf(process));
  };
  metrics.Begin("running", "gauge", "1 while the process runs and its recording has not ended.");
  each([&](const LiveProcess& of, const std::string& labels) {
    metrics.Add(labels, std::uint64_t{IsRunning(of.state)});
  });
  metrics.Begin("data_age_seconds", "gauge", "How old the newest recorded data is.");
  each([&](const LiveProcess& of, const std::string& labels) { metrics.Add(labels, of.age_s); });
  metrics.Begin("events_total", "counter", "Recorded events that were read.");
  each([&](const LiveProcess& of, const std::string& labels) { metrics.Add(labels, of.events); });
  metrics.Begin("lost_events_total", "counter", "Events that were lost.");
  each([&](const LiveProcess& of, const std::string& labels) { metrics.Add(labels, of.lost_events); });
  metrics.Begin("ooms_total", "counter", "Out-of-memory errors.");
  each([&](const LiveProcess& of, const std::string& labels) { metrics.Add(labels, of.oom_count); });
  metrics.Begin("steps_total", "counter", "Steps that began.");
  each([&](const LiveProcess& of, const std::string& labels) {
    if (of.step_source != StepSource::kNone) metrics.Add(labels, of.steps);
  });
  metrics.Begin("step_seconds", "gauge", "How long a step takes, over the newest ones.");
  each([&](const LiveProcess& of, const std::string& labels) {
    if (of.step_seconds > 0) metrics.Add(labels, of.step_seconds);
  });
}

void AddDevices(const LiveFigures& figures, Metrics& metrics) {
  const auto each = [&](const auto& add) {
    for (const LiveProcess& process : figures.processes) {
      for (const LiveMemory& device : process.devices) add(device, LabelsOf(process, device));
    }
  };
  metrics.Begin("allocated_bytes", "gauge", "Allocated bytes, as PyTorch counts them.");
  each([&](const LiveMemory& of, const std::string& labels) { metrics.Add(labels, of.allocated); });
  metrics.Begin("reserved_bytes", "gauge", "Bytes that the caching allocator has taken from the device.");
  each([&](const LiveMemory& of, const std::string& labels) {
    if (of.caching) metrics.Add(labels, of.reserved);
  });
  metrics.Begin("peak_allocated_bytes", "gauge", "The most that was allocated since the reading began.");
  each([&](const LiveMemory& of, const std::string& labels) { metrics.Add(labels, of.peak); });
  metrics.Begin("step_peak_bytes", "gauge", "The most that was allocated in the last whole step.");
  each([&](const LiveMemory& of, const std::string& labels) {
    if (of.step_peak > 0) metrics.Add(labels, of.step_peak);
  });
  metrics.Begin("total_bytes", "gauge", "Memory of the device.");
  each([&](const LiveMemory& of, const std::string& labels) {
    if (of.total) metrics.Add(labels, *of.total);
  });
  metrics.Begin("headroom_bytes", "gauge", "Bytes that can still be allocated.");
  each([&](const LiveMemory& of, const std::string& labels) {
    if (of.headroom) metrics.Add(labels, *of.headroom);
  });
  metrics.Begin("alloc_retries_total", "counter", "Times that the allocator emptied its cache and tried again.");
  each([&](const LiveMemory& of, const std::string& labels) {
    if (of.caching) metrics.Add(labels, of.retries);
  });
  metrics.Begin("growth_bytes_per_step", "gauge", "Bytes by which every step grows; 0 if no growth is clear.");
  each([&](const LiveMemory& of, const std::string& labels) {
    metrics.Add(labels, of.growth ? of.growth->bytes_per_step : 0.0);
  });
  metrics.Begin("seconds_until_out_of_memory", "gauge",
                "Time until memory runs out at this growth; absent if no growth is clear.");
  each([&](const LiveMemory& of, const std::string& labels) {
    if (of.seconds_left) metrics.Add(labels, *of.seconds_left);
  });
  metrics.Begin("category_bytes", "gauge", "At the peak of a step that was read in full, by category.");
  each([&](const LiveMemory& of, const std::string& labels) {
    for (const LiveShare& row : of.categories)
      metrics.Add(labels + fmt::format(",category=\"{}\"", LabelValue(row.name)), row.bytes);
  });
}

}  // namespace

std::string LivePrometheus(const LiveFigures& figures) {
  Metrics metrics;
  AddProcesses(figures, metrics);
  AddDevices(figures, metrics);
  return metrics.Take();
}

}  // namespace memoir
