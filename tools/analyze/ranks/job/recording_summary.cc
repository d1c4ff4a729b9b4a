#include "tools/analyze/ranks/job/recording_summary.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tools/analyze/grouping/driver_holdings.h"
#include "tools/analyze/grouping/source_lines.h"
#include "tools/analyze/lives/leaks.h"
#include "tools/analyze/pass/window/groupings.h"
#include "tools/analyze/ranks/job/module_sketch.h"
#include "tools/analyze/ranks/job/step_maxima.h"
#include "tools/analyze/summary/joint_summaries.h"
#include "tools/model/job.h"
#include "tools/read/capture_folder.h"
#include "tools/read/process_info_rules.h"

namespace memoir {
namespace {

constexpr std::size_t kMostRows = 64;
constexpr std::size_t kMostNameBytes = 300;
constexpr std::size_t kMostTextBytes = 1000;
constexpr std::size_t kMostGrowth = 8;
constexpr std::size_t kByModule = 1;  // index in RecordingFacts::summaries

std::string Cut(std::string_view text, std::size_t most) { return std::string(text.substr(0, most)); }

// Clears a long text instead of cutting it, because the field must stay valid UTF-8.
void DropIfLong(std::string& text) {
  if (text.size() > kMostTextBytes) text.clear();
}

v1::Composition CompositionOf(const Summary& summary, std::size_t device) {
  std::map<std::string, v1::HeldRow> by_name;
  for (const SummaryRow& row : summary.rows) {
    if (device >= row.by_device.size() || row.by_device[device].bytes_at_peak == 0) continue;
    v1::HeldRow& held = by_name[Cut(row.name, kMostNameBytes)];
    held.set_bytes(held.bytes() + row.by_device[device].bytes_at_peak);
    held.set_blocks(held.blocks() + row.by_device[device].blocks_at_peak);
  }
  std::vector<v1::HeldRow> rows;
  for (auto& [name, row] : by_name) {
    row.set_name(name);
    rows.push_back(std::move(row));
  }
  std::ranges::stable_sort(rows, std::greater(), &v1::HeldRow::bytes);
  v1::Composition composition;
  composition.set_by(std::string(GroupingFactsOf(summary.by).word));
  for (v1::HeldRow& row : rows) *composition.add_rows() = std::move(row);
  return composition;
}

// Keeps the first `most` rows, and adds the other rows to other_bytes and other_rows.
void KeepRows(int most, v1::Composition& composition) {
  auto& rows = *composition.mutable_rows();
  for (int i = most; i < rows.size(); ++i) {
    composition.set_other_bytes(composition.other_bytes() + rows[i].bytes());
    composition.set_other_rows(composition.other_rows() + 1);
  }
  if (rows.size() > most) rows.DeleteSubrange(most, rows.size() - most);
}

void AddWindows(const StepMaximaPass::Device& stepped, v1::DeviceSummary& device) {
  const StepMaxima& windows = stepped.windows;
  const bool has_buckets = stepped.most.buckets > 0 && !device.peak_is_folded();
  device.set_window_steps(windows.window_steps());
  if (has_buckets) {
    device.set_peak_bucket_bytes(stepped.most.buckets);
    device.set_peak_without_buckets(stepped.most.without_buckets);
    device.set_buckets_at_end(std::min(stepped.now.buckets, device.live_at_end()));
  }
  for (const auto& [window, levels] : windows.windows()) {
    v1::StepWindow& added = *device.add_windows();
    added.set_first_step(window * windows.window_steps());
    added.set_allocated(levels.allocated);
    added.set_active(levels.active);
    added.set_reserved(levels.reserved);
    added.set_used(levels.used);
    if (has_buckets) added.set_buckets(levels.buckets);
    if (has_buckets) added.set_without_buckets(levels.without_buckets);
    added.set_at_begin(levels.at_begin);
  }
}

v1::DeviceSummary DeviceOf(const DeviceRow& row, std::uint64_t start_ns) {
  v1::DeviceSummary device;
  device.set_name(row.name);
  device.set_product(Cut(row.product, kMostNameBytes));
  device.set_total_bytes(row.total_bytes);
  device.set_peak_allocated_bytes(row.peak_allocated_bytes);
  device.set_peak_ns(row.peak_ns - std::min(row.peak_ns, start_ns));
  device.set_peak_step_known(row.peak_step.has_value());
  device.set_peak_step(row.peak_step.value_or(0));
  device.set_peak_operator(Cut(row.peak_operator, kMostNameBytes));
  device.set_peak_is_folded(row.peak_is_evicted);
  device.set_caching(row.caching);
  device.set_peak_active_bytes(row.peak_active_bytes);
  device.set_peak_reserved_bytes(row.peak_reserved_bytes);
  if (row.least_free && *row.least_free <= row.total_bytes)
    device.set_peak_used_bytes(row.total_bytes - *row.least_free);
  device.set_active_at_peak(row.active_bytes_at_peak);
  device.set_requested_at_peak(row.requested_bytes_at_peak);
  device.set_reserved_at_peak(row.reserved_bytes_at_peak);
  device.set_outside_bytes(row.outside_bytes);
  for (const HoldingRow& owner : row.outside) {
    if (owner.name == kNcclName) device.set_nccl_bytes(owner.bytes);
  }
  device.set_live_at_end(row.live_bytes_at_end);
  device.set_reserved_at_end(row.reserved_bytes_at_end);
  device.set_allocations(row.allocations);
  device.set_allocated_bytes(row.allocated_bytes);
  device.set_retries_known(row.num_alloc_retries.has_value());
  device.set_retries(row.num_alloc_retries.value_or(0));
  device.set_ooms(row.num_ooms);
  return device;
}

v1::ProcessInfo InfoOf(const ProcessSummary& process) {
  v1::ProcessInfo info = process.info;
  info.clear_unrecorded();
  for (std::string* const text : {info.mutable_host(), info.mutable_rank_source(), info.mutable_memoir_version(),
                                  info.mutable_torch_version(), info.mutable_python_version(),
                                  info.mutable_simulated_device(), info.mutable_rank_conflict(), info.mutable_run()})
    DropIfLong(*text);
  for (std::string* const text : {info.mutable_program(), info.mutable_allocator_settings()})
    text->resize(std::min(text->size(), kMostTextBytes));
  if (info.coordinates_size() > kMostCoordinates)
    info.mutable_coordinates()->DeleteSubrange(kMostCoordinates, info.coordinates_size() - kMostCoordinates);
  for (v1::Coordinate& of : *info.mutable_coordinates()) of.set_dimension(Cut(of.dimension(), 64));
  constexpr int kMostSources = 64;
  if (info.sources_size() > kMostSources)
    info.mutable_sources()->DeleteSubrange(kMostSources, info.sources_size() - kMostSources);
  return info;
}

void AddGrowth(const Leaks& leaks, ProcessId process, v1::RecordingSummary& recording) {
  for (const Leak& leak : leaks.leaks) {
    if (leak.process != process || recording.growth_size() == kMostGrowth) continue;
    v1::GrowthSummary& growth = *recording.add_growth();
    growth.set_device(leak.device);
    growth.set_kind(std::string(ToString(leak.kind)));
    growth.set_place(Cut(leak.line.known() ? ToString(leak.line) : leak.operator_name, kMostNameBytes));
    growth.set_module(Cut(leak.module, kMostNameBytes));
    growth.set_bytes(leak.bytes);
    growth.set_steps(leak.steps);
    growth.set_since_step(leak.since_step);
  }
}

void AddReport(const ReplayReport& report, ProcessId process, v1::RecordingSummary& recording) {
  const ReplayReport::Process& seen = report.processes[process.value];
  recording.set_duration_ns(seen.duration_ns);
  recording.set_last_clock_ns(seen.last_clock_ns);
  *recording.mutable_counters() = seen.counters;
  DropIfLong(*recording.mutable_counters()->mutable_last_write_error());
  if (seen.end.reason() != v1::End::UNKNOWN) {
    *recording.mutable_end() = seen.end;
    recording.mutable_end()->clear_traceback();
    recording.mutable_end()->set_message(std::string(seen.end.message()).substr(0, kMostTextBytes));
  }
  recording.set_folded(seen.counters.folded_parts() > 0);
  if (const auto* const unknown = seen.UnknownCudaMemory(); unknown != nullptr) {
    recording.set_unknown_memory(unknown->why);
    DropIfLong(*recording.mutable_unknown_memory());
    if (recording.unknown_memory().empty()) recording.set_unknown_memory("not recorded");
  }
  // These figures cover all processes of the capture. A capture that contains only a rank's parts usually has one
  // process.
  recording.set_lost_records(report.lost_records);
  recording.set_lost_chunks(report.lost_chunks);
  recording.set_damage_count(report.damage.size());
  if (report.damage.empty()) return;
  recording.set_damage(report.damage.front().what);
  DropIfLong(*recording.mutable_damage());
}

// Returns true for the classes of FSDP's modules. fully_shard (FSDP2) puts "FSDP" before the name of a module's class.
bool IsOfFsdp(std::string_view class_name) {
  return class_name.starts_with("FSDP") || class_name == "FullyShardedDataParallel";
}

void AddModules(const Summary& by_module, v1::RecordingSummary& recording) {
  ModuleSketch modules, kinds;
  for (const SummaryRow& row : by_module.rows) {
    if (row.kind != SummaryRow::Kind::kNamed || row.count == 0) continue;
    if (IsOfFsdp(row.module.class_name)) recording.set_shards_parameters(true);
    const std::string name = absl::StrCat(row.module.class_name, " ", row.name);
    modules.Add(name);
    kinds.Add(WithoutNumbers(name));
  }
  for (const std::uint64_t hash : modules.hashes()) recording.add_modules(hash);
  for (const std::uint64_t hash : kinds.hashes()) recording.add_kinds_of_modules(hash);
}

struct RecordingFacts {
  const std::vector<Summary>& summaries;  // by category, module, operator and line, in this order
  const Leaks& leaks;
  const StepMaximaPass& steps;
};

v1::RecordingSummary RecordingOf(const ProcessSummary& process, const RecordingFacts& found) {
  v1::RecordingSummary recording;
  *recording.mutable_process() = InfoOf(process);
  recording.set_events(process.events);
  const Summary& first = found.summaries.front();
  AddReport(first.report, process.id, recording);
  if (recording.end().reason() != v1::End::UNKNOWN) recording.mutable_process()->clear_ring_path();
  const StepMaximaPass::Process stepped = process.id.value < found.steps.processes().size()
                                              ? found.steps.processes()[process.id.value]
                                              : StepMaximaPass::Process();
  recording.set_step_kind(std::string(ToString(stepped.source)));
  recording.set_steps(stepped.steps);
  recording.set_shards_optimizer(stepped.shards_optimizer);
  for (std::size_t i = 0; i < first.devices.size(); ++i) {
    const DeviceRow& row = first.devices[i];
    if (row.process != process.id) continue;
    v1::DeviceSummary& device = *recording.add_devices() = DeviceOf(row, process.start_ns);
    const auto id = stepped.devices.find(row.name);
    if (id != stepped.devices.end()) AddWindows(found.steps.devices()[id->second.value], device);
    if (row.peak_is_evicted) continue;
    for (const Summary& summary : found.summaries) *device.add_at_peak() = CompositionOf(summary, i);
  }
  for (v1::RefusedSummary refused : stepped.refused) {
    refused.set_ns(refused.ns() - std::min(refused.ns(), process.start_ns));
    for (std::string* const text : {refused.mutable_operator_name(), refused.mutable_place(), refused.mutable_module()})
      *text = Cut(*text, kMostNameBytes);
    *recording.add_refused() = std::move(refused);
  }
  AddGrowth(found.leaks, process.id, recording);
  return recording;
}

Task<absl::StatusOr<v1::RecordingSummaries>> Summarize(SharedCategories& shared, const Selection& all) {
  const Capture& capture = shared.capture();
  const std::vector<GroupBy> others = {GroupBy::kModule, GroupBy::kOperator, GroupBy::kLine};
  const absl::StatusOr<std::vector<Grouping>> groupings = co_await MakeJointGroupings(shared, others, all.own);
  if (!groupings.ok()) co_return groupings.status();
  LeakPass leak_pass(capture, all, groupings->front().categories());
  StepMaximaPass steps(groupings->front().categories());
  const std::vector<Visitor*> more_visitors = {&leak_pass, &steps};
  const absl::StatusOr<std::vector<Summary>> summaries =
      co_await AnalyzeJointSummaries(shared.replays(), all, *groupings, more_visitors);
  if (!summaries.ok()) co_return summaries.status();
  const Leaks leaks = leak_pass.Take();
  v1::RecordingSummaries recordings;
  for (const ProcessSummary& process : capture.processes())
    *recordings.add_recording() = RecordingOf(process, {*summaries, leaks, steps});
  if (recordings.recording_size() == 1) {
    // In a capture with several recordings it is unknown which of them called a module.
    AddModules((*summaries)[kByModule], *recordings.mutable_recording(0));
    v1::RecordingSummary& only = *recordings.mutable_recording(0);
    only.set_events(std::max(only.events(), summaries->front().events));
    only.set_operator_calls(summaries->front().operator_calls);
  }
  FitInto(kMostTextBytes * 60, recordings);
  co_return recordings;
}

}  // namespace

absl::StatusOr<v1::RecordingSummaries> SummarizeRecordings(const Capture& capture) {
  const Selection all;
  JointReplays replays(capture, all);
  SharedCategories categories(replays);
  return replays.Finish(Summarize(categories, all));
}

void FitInto(std::size_t most_bytes, v1::RecordingSummaries& summaries) {
  for (int rows = kMostRows; rows > 0; rows /= 2) {
    for (v1::RecordingSummary& recording : *summaries.mutable_recording()) {
      for (v1::DeviceSummary& device : *recording.mutable_devices()) {
        for (v1::Composition& composition : *device.mutable_at_peak()) KeepRows(rows, composition);
      }
    }
    if (summaries.ByteSizeLong() <= most_bytes) return;
  }
  for (v1::RecordingSummary& recording : *summaries.mutable_recording()) {
    for (v1::DeviceSummary& device : *recording.mutable_devices()) {
      device.clear_windows();
      device.clear_at_peak();
    }
    recording.clear_growth();
    recording.clear_refused();
  }
}

std::string RankLabel(const v1::RecordingSummary& recording) {
  return RankLabel(recording.process(), HasRank(recording.process()));
}

}  // namespace memoir
