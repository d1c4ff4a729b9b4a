#include "tools/analyze/fit/fit_recording.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "tools/analyze/summary/summary.h"

namespace memoir {
namespace {

// Finds the first out-of-memory error, and whether blocks stayed active after the program freed them. If only one
// stream used a block, torch completes the free immediately, under the same lock. So if an allocation comes between a
// free and its completion, a second stream still used the block.
class DeviceStory : public Visitor {
 public:
  DeviceStory(ProcessId process, std::string device, FitRecording& recording)
      : process_(process), device_(std::move(device)), recording_(recording) {}

  void OnStart(const ReplayState& state) override { dictionary_ = &state.dictionary(); }

  void OnOutOfMemory(const OutOfMemoryEvent& event) override {
    if (!IsOurs(event, event.asked->device) || recording_.out_of_memory) return;
    FitOutOfMemory& place = recording_.out_of_memory.emplace();
    place.asked = event.asked->bytes;
    place.operator_name = dictionary_->text(event.asked->operator_name);
    place.phase = event.asked->phase;
    if (!event.asked->module.valid()) return;
    const Module& module = dictionary_->module(event.asked->module);
    place.module = module.display_path();
  }

  void OnDeallocate(const DeallocateEvent& event) override {
    if (IsOurs(event, event.block->device) && event.cause == DeallocateCause::kRecorded) ++given_back_;
  }
  void OnFreeCompleted(const FreeCompletedEvent& event) override {
    if (IsOurs(event, event.device) && given_back_ > 0) --given_back_;
  }
  void OnAllocate(const AllocateEvent& event) override {
    if (given_back_ > 0 && IsOurs(event, event.block->device)) recording_.holds_back = true;
  }

 private:
  bool IsOurs(const Event& event, DeviceId device) {
    if (event.process != process_) return false;
    if (!ours_ && ToString(dictionary_->device(device)) == device_) ours_ = device;
    return ours_ == device;
  }

  const ProcessId process_;
  const std::string device_;
  FitRecording& recording_;
  const Dictionary* dictionary_ = nullptr;
  std::optional<DeviceId> ours_;
  std::uint64_t given_back_ = 0;  // frees that are not completed yet
};

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
  for (const SummaryRow& row : summary.rows) {
    if (device < row.by_device.size()) rows.push_back({row.name, row.by_device[device].bytes_at_peak});
  }
  return Sorted(std::move(rows));
}

std::vector<FitRow> PhasesAtPeak(const Summary& summary, std::size_t device) {
  std::vector<FitRow> phases;
  for (std::size_t i = 0; i < kPhases; ++i) phases.push_back({std::string(ToString(static_cast<Phase>(i))), 0});
  for (const SummaryRow& row : summary.rows) {
    if (device >= row.module.by_device.size()) continue;
    for (std::size_t i = 0; i < kPhases; ++i) phases[i].bytes += row.module.by_device[device][i].bytes_at_peak;
  }
  return Sorted(std::move(phases));
}

}  // namespace

absl::StatusOr<std::optional<FitRecording>> AnalyzeFitRecording(const Capture& capture, std::uint64_t pid,
                                                                std::uint64_t ordinal,
                                                                const std::function<void(double)>& progress) {
  // Three replays: two for summaries, and one for DeviceStory.
  const auto third = [&](int number) -> std::function<void(double)> {
    if (!progress) return nullptr;
    return [&progress, number](double done) { progress((number + done) / 3); };
  };
  SummaryOptions options;
  options.errors = false;
  options.progress = third(0);
  const std::string name = "cuda:" + std::to_string(ordinal);
  const auto summary = AnalyzeSummary(capture, options);
  if (!summary.ok()) return summary.status();
  const auto index = DeviceIndex(capture, *summary, pid, name);
  if (!index) return std::optional<FitRecording>();
  const DeviceRow& device = summary->devices[*index];
  if (device.peak_allocated_bytes == 0 && device.num_ooms == 0) return std::optional<FitRecording>();
  FitRecording recording;
  recording.torch_version = capture.processes()[device.process.value].info.torch_version();
  recording.peak_allocated = device.peak_allocated_bytes;
  if (device.caching) recording.peak_reserved = device.peak_reserved_bytes;
  recording.by_operator = RowsAtPeak(*summary, *index);
  options.by = GroupBy::kModule;
  options.progress = third(1);
  const auto modules = AnalyzeSummary(capture, options);
  if (!modules.ok()) return modules.status();
  if (const auto same = DeviceIndex(capture, *modules, pid, name)) {
    recording.by_module = RowsAtPeak(*modules, *same);
    recording.by_phase = PhasesAtPeak(*modules, *same);
  }
  DeviceStory story(device.process, name, recording);
  ReplayOptions replay;
  replay.first_seen = false;
  replay.modules = true;
  replay.progress = third(2);
  const auto report = capture.Replay(story, replay);
  if (!report.ok()) return report.status();
  return std::optional(std::move(recording));
}

}  // namespace memoir
