#include "tools/analyze/time/operator_curve.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "tools/analyze/pass/operator_numbers.h"
#include "tools/analyze/pass/window/windowed_visitor.h"

namespace memoir {
namespace {

// Maps ids to indices in a list of their values, in the order in which ids are first requested.
template <class Value>
class FirstSeenOrder {
 public:
  template <class Describe>
  std::uint32_t NumberOf(std::uint32_t id, Describe describe) {
    if (id >= place_.size()) place_.resize(id + 1, kNone);
    if (place_[id] == kNone) {
      place_[id] = static_cast<std::uint32_t>(values.size());
      values.push_back(describe());
    }
    return place_[id];
  }
  std::vector<Value> values;

 private:
  static constexpr std::uint32_t kNone = 0xffffffffu;
  std::vector<std::uint32_t> place_;
};

class OperatorCurvePass : public WindowedVisitor {
 public:
  using WindowedVisitor::WindowedVisitor;
  OperatorCurve Take() {
    curve_.names = std::move(names_.values);
    curve_.modules = std::move(modules_.values);
    return std::move(curve_);
  }

 protected:
  void SeeProcessBegin(const ProcessEvent& event) override;
  void SeeProcessEnd(const ProcessEvent& event) override;
  void SeeWindowOpen(const Event&) override { NoteCounts(false); }
  void SeeWindowClose(const Event&) override { NoteCounts(true); }
  void SeeRangeBegin(const RangeBeginEvent& event) override;
  void SeeRangeEnd(const RangeEndEvent& event) override;
  void SeeAllocate(const AllocateEvent& event) override { Follow(event.block->device); }
  void SeeSegment(const SegmentEvent& event) override { Follow(event.segment->device); }
  void SeeOutOfMemory(const OutOfMemoryEvent& event) override { Follow(event.asked->device); }
  void SeeDeviceStatistics(const DeviceStatisticsEvent& event) override { Follow(event.device); }
  void SeeModuleEnter(const ModuleEvent& event) override {
    if (in_window()) iterations_.SeeModuleEnter(event, Now(event));
  }
  void SeeModuleExit(const ModuleEvent& event) override {
    if (in_window()) iterations_.SeeModuleExit(event, Now(event));
  }

 private:
  struct FollowedDevice {
    DeviceId id;
    DeviceOperators shown;
    std::uint64_t retries_at_begin = 0;
    std::uint64_t ooms_at_begin = 0;
  };
  static bool IsOutermost(const OpenRange& range) {
    return range.is_operator && range.outermost_operator == static_cast<std::int32_t>(range.depth);
  }
  IterationInstant Now(const Event& event) const { return {Nanoseconds(event), process_.calls.size()}; }
  void Follow(DeviceId id);
  // Counts the allocators' retries and out-of-memory errors in the window that begins or ends now.
  void NoteCounts(bool at_end);
  std::uint32_t ModuleOf(ModuleId id);

  OperatorCurve curve_;
  ProcessOperators process_;              // the current process
  std::vector<FollowedDevice> followed_;  // devices of the current process
  IterationFinder iterations_;
  OperatorNumbers numbers_;
  absl::flat_hash_map<ThreadId, std::uint64_t> outermost_;  // by thread: OperatorCall::number of the open call
  FirstSeenOrder<std::string> names_;
  FirstSeenOrder<Module> modules_;
};

void OperatorCurvePass::SeeProcessBegin(const ProcessEvent& event) {
  process_ = {};
  process_.process = event.process;
  process_.rank = capture().processes()[event.process.value].rank();
  iterations_ = {};
  followed_.clear();
  numbers_.Clear();
  outermost_.clear();
}

void OperatorCurvePass::SeeProcessEnd(const ProcessEvent&) {
  std::ranges::sort(followed_, {}, [](const FollowedDevice& device) { return device.shown.name; });
  for (FollowedDevice& device : followed_) {
    if (!state().memory(device.id).caching()) continue;
    device.shown.after.resize(process_.calls.size());
    process_.devices.push_back(std::move(device.shown));
  }
  process_.iterations = iterations_.Take();
  if (!process_.devices.empty()) curve_.processes.push_back(std::move(process_));
  process_ = {};
}

void OperatorCurvePass::Follow(DeviceId id) {
  if (std::ranges::find(followed_, id, &FollowedDevice::id) != followed_.end()) return;
  FollowedDevice& device = followed_.emplace_back();
  device.id = id;
  device.shown.name = ToString(state().dictionary().device(id));
}

void OperatorCurvePass::NoteCounts(bool at_end) {
  for (FollowedDevice& device : followed_) {
    const DeviceMemory& memory = state().memory(device.id);
    if (at_end) {
      device.shown.num_alloc_retries += memory.alloc_retries() - device.retries_at_begin;
      device.shown.num_ooms += memory.ooms() - device.ooms_at_begin;
    } else {
      device.retries_at_begin = memory.alloc_retries();
      device.ooms_at_begin = memory.ooms();
    }
  }
}

std::uint32_t OperatorCurvePass::ModuleOf(ModuleId id) {
  if (!id.valid()) return OperatorCall::kNoModule;
  return modules_.NumberOf(id.value, [&] { return state().dictionary().module(id); });
}

void OperatorCurvePass::SeeRangeBegin(const RangeBeginEvent& event) {
  const OpenRange& range = *event.range;
  const bool outermost = IsOutermost(range);
  const std::uint64_t number =
      in_window() && range.is_operator ? numbers_.BeginCall(range.name, state().dictionary()) : OperatorCall::kNoNumber;
  if (outermost) outermost_[event.thread] = number;
  if (in_window()) iterations_.SeeRangeBegin(event, state().dictionary().text(range.name), Now(event));
}

void OperatorCurvePass::SeeRangeEnd(const RangeEndEvent& event) {
  if (!in_window()) return;
  const OpenRange& range = *event.range;
  if (IsOutermost(range) && !event.implicit) {
    const std::uint32_t name =
        names_.NumberOf(range.name.value, [&] { return std::string(state().dictionary().text(range.name)); });
    process_.calls.push_back({name, ModuleOf(range.module), range.phase, Nanoseconds(event), outermost_[event.thread]});
    for (FollowedDevice& device : followed_) {
      const DeviceMemory& memory = state().memory(device.id);
      device.shown.after.resize(process_.calls.size() - 1);  // zeros for the calls before the device was first used
      device.shown.after.push_back({memory.allocated().all, memory.active().all, memory.reserved().all});
    }
  }
  iterations_.SeeRangeEnd(event, Now(event));
}

}  // namespace

absl::StatusOr<OperatorCurve> AnalyzeOperatorCurve(const Capture& capture, const Selection& selection) {
  OperatorCurvePass pass(capture, selection);
  ReplayOptions replay = ReplayOptionsFor(selection, false, false);
  replay.modules = true;
  absl::StatusOr<ReplayReport> report = capture.Replay(pass, replay);
  if (!report.ok()) return report.status();
  if (!pass.selection_status().ok()) return pass.selection_status();
  OperatorCurve curve = pass.Take();
  curve.report = *std::move(report);
  if (curve.processes.empty()) {
    return absl::NotFoundError(absl::StrCat(capture.path(), ": no memory of a CUDA device was recorded",
                                            selection.device ? " on " + *selection.device : "",
                                            "; --over time shows the host's, --by operator who allocates"));
  }
  return curve;
}

}  // namespace memoir
