#include "tools/analyze/calls/device_call_summary.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <tuple>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/str_cat.h"
#include "tools/analyze/calls/cuda_graph_book.h"
#include "tools/analyze/calls/launched_runs.h"
#include "tools/analyze/data_flow/device_call_names.h"
#include "tools/analyze/pass/window/windowed_visitor.h"
#include "tools/model/kernel_name.h"

namespace memoir {
namespace {

using Operators = absl::flat_hash_map<NameId, std::uint64_t>;

struct KernelSums {
  std::uint64_t launches = 0, captured = 0, failed = 0;
  Operators operators;
  std::set<std::pair<DeviceId, std::uint64_t>> streams;
  std::uint64_t runs = 0, device_ns = 0;
  Operators operators_ns;
};
struct CallSums {
  std::uint64_t calls = 0, failed = 0, bytes = 0, device_ns = 0;
  std::optional<double> ns;
  Operators operators;
};

class CallsPass : public WindowedVisitor {
 public:
  using WindowedVisitor::WindowedVisitor;
  DeviceCallSummary found_calls;

 protected:
  void SeeProcessBegin(const ProcessEvent& event) override {
    graphs_.Begin(event.process);
    const ProcessSummary& process = capture().processes()[event.process.value];
    ns_per_tick_ = process.last_tick <= process.first_tick
                       ? 1
                       : static_cast<double>(state().Nanoseconds(event.process, process.last_tick) -
                                             state().Nanoseconds(event.process, process.first_tick)) /
                             static_cast<double>(process.last_tick - process.first_tick);
  }
  void SeeProcessEnd(const ProcessEvent&) override {
    std::ranges::move(graphs_.Take(), std::back_inserter(found_calls.graphs));
    for (const DeviceRun& run : runs_.TakeRunsWithoutCall()) {
      ++found_calls.other_runs;
      found_calls.other_ns += run.ns;
    }
  }
  void SeeDeviceCall(const DeviceCallEvent& event) override {
    if (event.is_launch) {
      AddLaunch(event, graphs_.AddLaunch(event));
    } else {
      graphs_.AddCall(event, state().dictionary(), in_window());
      if (in_window()) AddCall(event);
    }
    if (event.correlation == 0) return;
    const LaunchingCall call{in_window(), ToString(event.call), event.copy_kind, event.kernel, event.leaf_name};
    for (const DeviceRun& run : runs_.AddCall(event.correlation, call)) AddRun(call, run);
  }
  void SeeKernelRun(const KernelRunEvent& event) override {
    const DeviceRun run = DeviceRunOf(event);
    if (const LaunchingCall* call = runs_.AddRun(event.correlation, run); call != nullptr) AddRun(*call, run);
  }
  void SeeAllocate(const AllocateEvent& event) override { graphs_.AddBlock(*event.block); }
  void SeeSegment(const SegmentEvent& event) override { graphs_.AddSegment(event); }
  void SeeDriverAllocate(const DriverAllocateEvent& event) override {
    if (event.block->origin == BlockOrigin::kRecorded) AddDriverCall(*event.block, false);
  }
  void SeeDriverRefused(const DriverRefusedEvent& event) override { AddDriverCall(*event.asked, true); }
  void SeeEnd(const ReplayReport&) override;

 private:
  void AddLaunch(const DeviceCallEvent& event, bool captured) {
    if (!in_window()) return;
    KernelSums& sums = kernels_[event.kernel];
    ++sums.launches;
    if (captured) ++sums.captured;
    if (event.result != 0) ++sums.failed;
    ++sums.operators[event.leaf_name];
    sums.streams.insert({event.device, event.stream});
  }
  void AddCall(const DeviceCallEvent& event) {
    CallSums& sums = calls_[{ToString(event.call), event.copy_kind}];
    ++sums.calls;
    if (event.result != 0) ++sums.failed;
    sums.bytes += event.bytes;
    sums.ns = sums.ns.value_or(0) + static_cast<double>(event.ticks) * ns_per_tick_;
    ++sums.operators[event.leaf_name];
  }
  // Adds the time of a kernel to the row of the kernel, even if a graph launched the kernel. Adds the time of a copy or
  // fill to the row of the call.
  void AddRun(const LaunchingCall& call, const DeviceRun& run) {
    if (!call.counts) return;
    if (run.kind != v1::RUN_OF_KERNEL) {
      calls_[{call.call, call.copy_kind}].device_ns += run.ns;
      return;
    }
    KernelSums& sums = kernels_[run.kernel.valid() ? run.kernel : call.kernel];
    ++sums.runs;
    sums.device_ns += run.ns;
    sums.operators_ns[call.leaf] += run.ns;
  }
  void AddDriverCall(const DriverBlock& block, bool refused) {
    const std::string_view name = block.call == v1::MEMORY_CREATE ? "cuMemCreate" : NameOfDriverCall(block.call);
    if (!in_window() || name.empty()) return;
    CallSums& sums = calls_[{name, v1::COPY_KIND_UNKNOWN}];
    ++sums.calls;
    (refused ? sums.failed : sums.bytes) += refused ? 1 : block.bytes;
    ++sums.operators[block.operator_name];
  }
  std::vector<std::pair<std::string, std::uint64_t>> Sorted(const Operators& operators) const;

  CudaGraphBook graphs_;
  LaunchedRuns runs_;
  absl::flat_hash_map<NameId, KernelSums> kernels_;
  absl::flat_hash_map<std::pair<std::string_view, v1::CopyKind>, CallSums> calls_;
  double ns_per_tick_ = 1;
};

std::vector<std::pair<std::string, std::uint64_t>> CallsPass::Sorted(const Operators& operators) const {
  std::vector<std::pair<std::string, std::uint64_t>> sorted;
  for (const auto& [name, count] : operators) sorted.emplace_back(state().dictionary().text(name), count);
  std::ranges::sort(
      sorted, [](const auto& a, const auto& b) { return std::tie(b.second, a.first) < std::tie(a.second, b.first); });
  return sorted;
}

void CallsPass::SeeEnd(const ReplayReport&) {
  for (const auto& [kernel, sums] : kernels_) {
    KernelRow row;
    row.symbol = state().dictionary().text(kernel);
    row.name = KernelName(row.symbol);
    row.launches = sums.launches;
    row.captured = sums.captured;
    row.failed = sums.failed;
    row.operators = Sorted(sums.operators);
    row.runs = sums.runs;
    row.device_ns = sums.device_ns;
    row.operators_ns = Sorted(sums.operators_ns);
    found_calls.runs += row.runs;
    found_calls.device_ns += row.device_ns;
    for (const auto& [device, stream] : sums.streams)
      row.streams.push_back(absl::StrCat(ToString(state().dictionary().device(device)), " 0x", absl::Hex(stream)));
    found_calls.launches += row.launches;
    if (row.symbol.empty()) found_calls.unnamed += row.launches;
    found_calls.kernels.push_back(std::move(row));
  }
  std::ranges::sort(found_calls.kernels, [](const KernelRow& a, const KernelRow& b) {
    return std::tie(b.device_ns, b.launches, a.symbol) < std::tie(a.device_ns, a.launches, b.symbol);
  });
  for (const auto& [call, sums] : calls_) {
    CallRow row;
    std::tie(row.call, row.kind) = call;
    row.calls = sums.calls;
    row.failed = sums.failed;
    row.bytes = sums.bytes;
    row.device_ns = sums.device_ns;
    if (sums.ns) row.ns = static_cast<std::uint64_t>(*sums.ns);
    row.operators = Sorted(sums.operators);
    found_calls.calls.push_back(std::move(row));
  }
  std::ranges::sort(found_calls.calls, [](const CallRow& a, const CallRow& b) {
    return std::tie(b.calls, a.call, a.kind) < std::tie(a.calls, b.call, b.kind);
  });
}

}  // namespace

namespace {

bool HasSource(const Capture& capture, std::string_view source) {
  return std::ranges::any_of(capture.processes(), [&](const ProcessSummary& process) {
    return std::ranges::find(process.info.sources(), source) != process.info.sources().end();
  });
}

}  // namespace

bool LaunchesAreRecorded(const Capture& capture) { return HasSource(capture, "cuda-kernels"); }

absl::StatusOr<DeviceCallSummary> AnalyzeDeviceCalls(const Capture& capture, const Selection& selection) {
  CallsPass pass(capture, selection);
  ReplayOptions options = ReplayOptionsFor(selection, false, false);
  absl::StatusOr<ReplayReport> report = capture.Replay(pass, options);
  if (!report.ok()) return report.status();
  if (!pass.selection_status().ok()) return pass.selection_status();
  DeviceCallSummary calls = std::move(pass.found_calls);
  calls.launches_recorded = LaunchesAreRecorded(capture);
  calls.times_recorded = HasSource(capture, "kernel-times");
  calls.report = *std::move(report);
  return calls;
}

}  // namespace memoir
