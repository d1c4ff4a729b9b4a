#include "tools/analyze/torch_profiler/memory_tracker.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tools/analyze/pass/window/windowed_visitor.h"

namespace memoir {
namespace {

// The value of OpenRange::sequence for an operator below autograd that ran while all TorchDispatchModes were disabled
// (capture.proto).
constexpr std::int64_t kUnseenByModes = -2;

constexpr std::string_view kStart = "fw_start", kBoundary = "fw_bw_boundary";

// Returns the text with which the names of all marks of one memoir.MemoryTracker (a Python class) begin. The rest of a
// name is "begins", "enters NAME", "leaves" or "ends" (python/_torch_memoir/_memory_tracker.py).
std::string MarkPrefix(const std::string& tracker) { return absl::StrCat("memoir.MemoryTracker#", tracker, " "); }

// Finds the processes that have a device with a caching allocator, and the models that they call.
class SurveyPass : public WindowedVisitor {
 public:
  SurveyPass(const Capture& capture, const MemoryTrackerOptions& options)
      : WindowedVisitor(capture, options), begin_mark_(MarkPrefix(options.tracker) + "begins") {}
  struct Root {
    std::string name;
    std::set<ModuleId> called;
  };
  struct Process {
    std::set<std::string> devices;
    std::vector<Root> roots;  // in the order of their first calls
    bool marked = false;      // the selected tracker began in this process
  };
  std::map<ProcessId, Process> processes;

 protected:
  void SeeProcessEnd(const ProcessEvent& event) override {
    for (const DeviceId id : seen_) {
      if (state().memory(id).caching())
        processes[event.process].devices.insert(ToString(state().dictionary().device(id)));
    }
    seen_.clear();
  }
  void SeeAllocate(const AllocateEvent& event) override { seen_.insert(event.block->device); }
  void SeeSegment(const SegmentEvent& event) override { seen_.insert(event.segment->device); }
  void SeeDeviceStatistics(const DeviceStatisticsEvent& event) override { seen_.insert(event.device); }
  void SeeModuleEnter(const ModuleEvent& event) override {
    if (!in_window() || event.of_gradient) return;
    std::vector<Root>& roots = processes[event.process].roots;
    const std::string& name = state().dictionary().module(event.module).root;
    auto root = std::ranges::find(roots, name, &Root::name);
    if (root == roots.end()) root = roots.insert(root, {name, {}});
    root->called.insert(event.module);
  }
  void SeeMark(const MarkEvent& event) override {
    if (state().dictionary().text(event.name) == begin_mark_) processes[event.process].marked = true;
  }

 private:
  const std::string begin_mark_;
  std::set<DeviceId> seen_;
};

// Returns the name of an operator as Python's OpOverload.__name__: "add.Tensor" for "aten::add.Tensor".
std::string PythonName(std::string_view name) {
  const std::size_t colons = name.find("::");
  if (colons != std::string_view::npos) name.remove_prefix(colons + 2);
  std::string python(name.substr(0, name.find("::")));
  return python.find('.') == std::string::npos ? python + ".default" : python;
}

// Returns the path below the root as in named_modules(). nullopt if the module is not below the root.
std::optional<std::string> NameBelow(const Module& module, std::string_view root) {
  std::string whole = module.full_path();
  if (whole == root) return "";
  if (!whole.starts_with(root) || whole[root.size()] != '.') return std::nullopt;
  return whole.substr(root.size() + 1);
}

class TrackerPass : public WindowedVisitor {
 public:
  TrackerPass(const Capture& capture, const MemoryTrackerOptions& options, MemoryTrackerStats stats)
      : WindowedVisitor(capture, options),
        options_(options),
        stats_(std::move(stats)),
        mark_prefix_(MarkPrefix(options.tracker)) {
    current_ = ModuleIndex("");
  }
  MemoryTrackerStats Take() { return std::move(stats_); }

 protected:
  void SeeWindowClose(const Event& event) override {
    if (!by_marks()) TakeRetries(event);
  }
  void SeeAllocate(const AllocateEvent& event) override { Look(event, event.block->device); }
  void SeeSegment(const SegmentEvent& event) override { Look(event, event.segment->device); }
  void SeeDeviceStatistics(const DeviceStatisticsEvent& event) override { Look(event, event.device); }
  void SeeRangeEnd(const RangeEndEvent& event) override;
  void SeeModuleEnter(const ModuleEvent& event) override;
  void SeeModuleExit(const ModuleEvent& event) override;
  void SeeMark(const MarkEvent& event) override;

 private:
  bool by_marks() const { return !options_.tracker.empty(); }
  bool Follows(const Event& event) const {
    return event.process == stats_.process && (by_marks() ? open_ : in_window());
  }
  void Look(const Event& event, DeviceId id) {
    if (device_.valid() || event.process != stats_.process) return;
    if (ToString(state().dictionary().device(id)) == stats_.device) device_ = id;
  }
  void TakeRetries(const Event& event) {
    if (event.process == stats_.process && device_.valid())
      stats_.num_alloc_retries = state().memory(device_).alloc_retries();
  }
  std::uint32_t ModuleIndex(const std::string& name);
  void Enter(const std::string& name);
  void SetMarker(std::string_view name);
  bool Failed(const RangeEndEvent& event) const;

  const MemoryTrackerOptions& options_;
  MemoryTrackerStats stats_;
  const std::string mark_prefix_;
  DeviceId device_;
  bool open_ = false;  // between the marks of the tracker's begin and end
  std::uint32_t current_ = 0;
  absl::flat_hash_map<std::string, std::uint32_t> module_index_;
  absl::flat_hash_map<std::string, std::uint32_t> operator_index_;
  std::vector<std::uint64_t> occurrences_;  // by operator
};

std::uint32_t TrackerPass::ModuleIndex(const std::string& name) {
  const auto [known, added] = module_index_.try_emplace(name, static_cast<std::uint32_t>(stats_.modules.size()));
  if (added) stats_.modules.push_back(name);
  return known->second;
}

// Notes that a module was entered. Like MemoryTracker, ignores fused embedding bags, because they cannot have hooks.
void TrackerPass::Enter(const std::string& name) {
  if (name.find(".fused_proxy_grouped_embedding_bag") != std::string::npos) return;
  current_ = ModuleIndex(name + ".forward");
  if (name.empty()) SetMarker(kStart);
}

void TrackerPass::SetMarker(std::string_view name) {
  const auto known = std::ranges::find(stats_.markers, name, [](const auto& marker) { return marker.first; });
  if (known != stats_.markers.end()) {
    known->second = stats_.rows.size();
  } else {
    stats_.markers.emplace_back(name, stats_.rows.size());
  }
}

void TrackerPass::SeeModuleEnter(const ModuleEvent& event) {
  if (by_marks() || event.of_gradient || !Follows(event)) return;
  if (const auto name = NameBelow(state().dictionary().module(event.module), stats_.root)) Enter(*name);
}

void TrackerPass::SeeModuleExit(const ModuleEvent& event) {
  if (by_marks() || !Follows(event)) return;
  if (NameBelow(state().dictionary().module(event.module), stats_.root) == "") SetMarker(kBoundary);
}

void TrackerPass::SeeMark(const MarkEvent& event) {
  if (!by_marks() || event.process != stats_.process) return;
  std::string_view what = state().dictionary().text(event.name);
  if (!what.starts_with(mark_prefix_)) return;
  what.remove_prefix(mark_prefix_.size());
  if (what == "begins") open_ = true;
  if (what == "ends") {
    open_ = false;
    TakeRetries(event);
  }
  if (what.starts_with("enters ")) Enter(std::string(what.substr(7)));
  if (what == "leaves") SetMarker(kBoundary);
}

// Returns true if the operator raised an exception: the call has no recorded end, or it has no results although the
// operator's schema has results. Such a call has no row.
bool TrackerPass::Failed(const RangeEndEvent& event) const {
  if (event.implicit) return true;
  if (event.signature.valid() && !state().dictionary().signature(event.signature).kinds.empty()) return false;
  // The RangeEndEvents of these operators never contain results.
  if (state().dictionary().text(event.range->name).starts_with("profiler::")) return false;
  return event.range->schema.valid() && !state().dictionary().schema(event.range->schema).text.ends_with("-> ()");
}

void TrackerPass::SeeRangeEnd(const RangeEndEvent& event) {
  if (event.range->source != RangeSource::kDispatch || !Follows(event) || Failed(event)) return;
  const std::string_view full = state().dictionary().text(event.range->name);
  if (full == "aten::detach" || event.range->sequence == kUnseenByModes) return;
  const std::string name = PythonName(full);
  const auto [known, added] = operator_index_.try_emplace(name, static_cast<std::uint32_t>(stats_.operators.size()));
  if (added) {
    stats_.operators.push_back(name);
    occurrences_.push_back(0);
  }
  MemoryTrackerRow& row = stats_.rows.emplace_back();
  row.module = current_;
  row.name = known->second;
  row.occurrence = occurrences_[row.name]++;
  if (!device_.valid()) return;
  const DeviceMemory& memory = state().memory(device_);
  row.bytes = {memory.allocated().all, memory.active().all, memory.reserved().all};
}

bool IsComplete(const Capture& capture, ProcessId id, const ReplayReport& report) {
  const v1::Counters& counters = report.processes[id.value].counters;
  return counters.dropped_records() + counters.lost_events() + report.lost_records + report.lost_chunks == 0 &&
         report.damage.empty() && capture.processes()[id.value].starts_at_first_chunk;
}

bool SeesBelowAutograd(const ProcessSummary& process) {
  return std::ranges::find(process.info.sources(), "dispatch") != process.info.sources().end();
}

// Chooses the process, and the device and the root module if `options` do not name them.
absl::Status Choose(const Capture& capture, const SurveyPass& survey, const MemoryTrackerOptions& options,
                    MemoryTrackerStats& stats) {
  const auto marked = [&](const auto& process) { return options.tracker.empty() || process.second.marked; };
  if (std::ranges::none_of(survey.processes, marked))
    return absl::NotFoundError(absl::StrCat(capture.path(), ": no tracker ", options.tracker, " began"));
  const auto chosen = std::ranges::find_if(
      survey.processes, [&](const auto& process) { return marked(process) && !process.second.devices.empty(); });
  if (chosen == survey.processes.end()) {
    return absl::NotFoundError(absl::StrCat(capture.path(), ": no memory of a CUDA device was recorded",
                                            options.device ? " on " + *options.device : "",
                                            ", and MemoryTracker shows nothing else"));
  }
  stats.process = chosen->first;
  if (!SeesBelowAutograd(capture.processes()[stats.process.value])) {
    return absl::FailedPreconditionError(absl::StrCat(
        capture.path(), ": its operators are those above autograd, and MemoryTracker's are those below: record with ",
        "memoir run --ops dispatch"));
  }
  stats.device = *chosen->second.devices.begin();
  stats.other_devices.assign(std::next(chosen->second.devices.begin()), chosen->second.devices.end());
  stats.other_processes = static_cast<std::size_t>(std::ranges::count_if(survey.processes, [&](const auto& process) {
    return process.first != chosen->first && marked(process) && !process.second.devices.empty();
  }));
  const std::vector<SurveyPass::Root>& roots = chosen->second.roots;
  stats.root = options.root;
  if (!options.tracker.empty() || roots.empty()) return absl::OkStatus();
  std::vector<std::string> names;
  for (const SurveyPass::Root& root : roots) names.push_back(root.name);
  if (options.root.empty()) {
    const auto most = std::ranges::max_element(roots, {}, [](const auto& root) { return root.called.size(); });
    stats.root = most->name;
  } else if (std::ranges::find(names, options.root.substr(0, options.root.find('.'))) == names.end()) {
    return absl::NotFoundError(absl::StrCat(capture.path(), ": no module '", options.root,
                                            "' was called; roots are: ", absl::StrJoin(names, ", ")));
  }
  std::ranges::copy_if(names, std::back_inserter(stats.other_roots),
                       [&](const auto& name) { return name != stats.root; });
  return absl::OkStatus();
}

}  // namespace

std::string NameOf(const MemoryTrackerStats& stats, const MemoryTrackerRow& row) {
  return absl::StrCat(stats.modules[row.module], ".", stats.operators[row.name], "_", row.occurrence);
}

absl::StatusOr<MemoryTrackerStats> AnalyzeMemoryTracker(const Capture& capture, const MemoryTrackerOptions& options) {
  const Capture::SharedDecoding shared(capture);
  ReplayOptions replay = ReplayOptionsFor(options, false, false);
  replay.modules = true;  // to recognize module enters that belong to gradients
  SurveyPass survey(capture, options);
  absl::StatusOr<ReplayReport> report = capture.Replay(survey, replay);
  if (!report.ok()) return report.status();
  if (!survey.selection_status().ok()) return survey.selection_status();
  MemoryTrackerStats stats;
  if (const absl::Status status = Choose(capture, survey, options, stats); !status.ok()) return status;
  TrackerPass pass(capture, options, std::move(stats));
  report = capture.Replay(pass, replay);
  if (!report.ok()) return report.status();
  stats = pass.Take();
  stats.complete = IsComplete(capture, stats.process, *report);
  stats.report = *std::move(report);
  return stats;
}

}  // namespace memoir
