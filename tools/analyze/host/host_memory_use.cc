#include "tools/analyze/host/host_memory_use.h"

#include <algorithm>
#include <array>
#include <utility>

#include "tools/analyze/pass/window/windowed_visitor.h"

namespace memoir {
namespace {

class HostPass final : public WindowedVisitor {
 public:
  using WindowedVisitor::WindowedVisitor;
  std::vector<ProcessHostMemory> Take() { return std::move(processes_); }

 protected:
  void SeeProcessBegin(const ProcessEvent& event) override {
    now_ = {};
    now_.process = event.process;
    now_.rank = capture().processes()[event.process.value].rank();
    every_ = 1;
  }
  void SeeHostReading(const HostReadingEvent& event) override {
    if (!event.numbers.resident_bytes() || (!event.before && !in_window())) return;
    HostInstant instant =
        DivideHost(event.numbers, event.before ? 0 : BytesOf("cpu"), event.before ? 0 : BytesOf("pinned"));
    instant.ns = Nanoseconds(event);
    if (const StepSource source = steps().source(); source != StepSource::kNone) instant.step = steps().newest(source);
    if (now_.readings == 0) now_.first = now_.highest = now_.nearest = instant;
    if (instant.resident() > now_.highest.resident()) now_.highest = instant;
    if (instant.headroom().value_or(UINT64_MAX) < now_.nearest.headroom().value_or(UINT64_MAX)) now_.nearest = instant;
    now_.last = instant;
    if (now_.readings++ % every_ != 0) return;
    now_.over_time.push_back(instant);
    if (now_.over_time.size() == kMostInstants) Thin();
  }
  void SeeProcessEnd(const ProcessEvent&) override {
    now_.tensors_at_end = BytesOf("cpu");
    if (now_.readings == 0) return;
    if (now_.over_time.back().ns != now_.last.ns) now_.over_time.push_back(now_.last);
    processes_.push_back(std::exchange(now_, {}));
  }

 private:
  static constexpr std::size_t kMostInstants = 512;

  // Drops every second instant.
  void Thin() {
    every_ *= 2;
    std::vector<HostInstant>& instants = now_.over_time;
    for (std::size_t i = 0; 2 * i < instants.size(); ++i) instants[i] = instants[2 * i];
    instants.resize(instants.size() / 2);
  }
  std::uint64_t BytesOf(std::string_view type) const {
    std::uint64_t bytes = 0;
    const Dictionary& dictionary = state().dictionary();
    for (std::uint32_t i = 0; i < dictionary.devices(); ++i) {
      const DeviceInfo& device = dictionary.device(DeviceId(i));
      if (device.process == now_.process && device.type == type) bytes += state().live_bytes(DeviceId(i));
    }
    return bytes;
  }

  ProcessHostMemory now_;  // the current process
  std::size_t every_ = 1;  // one of this many samples is added to over_time
  std::vector<ProcessHostMemory> processes_;
};

// Returns true if `after_plus_one` minus 1 is larger than `before`. v1::End stores a count plus 1, so that 0 means that
// the count is unknown.
bool HasRisen(std::optional<std::uint64_t> before, std::uint64_t after_plus_one) {
  return before && after_plus_one > *before + 1;
}

std::vector<HostFinding> FindingsOf(const ProcessHostMemory& host, const v1::End& end) {
  constexpr std::uint64_t kNear = 10, kKept = 4, kSmallestKept = 512u << 20;
  std::vector<HostFinding> findings;
  const HostNumbers& last = host.last.numbers;
  const bool same_group = last.group_id && end.host().group_id() == *last.group_id + 1;
  if (same_group && HasRisen(last.group_kills, end.host().group_kills())) {
    findings.push_back(HostFinding::kKilled);
  } else if (HasRisen(last.machine_kills, end.host().machine_kills())) {
    findings.push_back(HostFinding::kKilledByMachine);
  }
  const std::optional<std::uint64_t> left = host.nearest.headroom(), limit = host.nearest.limit();
  if (left && limit && *left < *limit / kNear) findings.push_back(HostFinding::kNearLimit);
  if (host.growth) findings.push_back(HostFinding::kGrows);
  const std::uint64_t kept = last.malloc_free_bytes.value_or(0);
  if (kept >= kSmallestKept && kept >= host.last.resident() / kKept) findings.push_back(HostFinding::kMallocKeeps);
  return findings;
}

}  // namespace

std::string_view ToString(HostFinding finding) {
  static constexpr std::array<std::string_view, 5> kNames = {"killed", "killed_by_machine", "near_limit", "grows",
                                                             "malloc_keeps"};
  return kNames[static_cast<std::size_t>(finding)];
}

bool HostMemoryUse::has_findings() const {
  return std::ranges::any_of(processes, [](const ProcessHostMemory& host) { return !host.findings.empty(); });
}

Task<absl::StatusOr<HostMemoryUse>> AnalyzeHostMemory(JointReplays& replays, Selection selection) {
  Selection of_all = selection.WithAllBlocks();
  of_all.device.reset();  // samples of host memory do not belong to a device
  HostPass pass(replays.capture(), of_all);
  absl::StatusOr<ReplayReport> report = co_await replays.Next(pass);
  if (!report.ok()) co_return report.status();
  if (!pass.selection_status().ok()) co_return pass.selection_status();
  HostMemoryUse memory{*std::move(report), pass.Take()};
  for (ProcessHostMemory& host : memory.processes) {
    host.growth = GrowthOf(host.over_time);
    host.findings = FindingsOf(host, memory.report.processes[host.process.value].end);
  }
  co_return memory;
}

absl::StatusOr<HostMemoryUse> AnalyzeHostMemory(const Capture& capture, const Selection& selection) {
  JointReplays replays(capture, selection);
  return replays.Finish(AnalyzeHostMemory(replays, selection));
}

}  // namespace memoir
