#include "tools/analyze/summary/summary_additions.h"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "tools/analyze/driver/refusal.h"
#include "tools/analyze/oom/out_of_memory_analysis.h"

namespace memoir {
namespace {

class FailurePass : public Visitor {
 public:
  void OnStart(const ReplayState& state) override { state_ = &state; }
  bool takes_repeats() const override { return true; }
  std::uint64_t MostRepeats(const RepeatedEvent& event) const override { return event.times; }
  void OnOutOfMemory(const OutOfMemoryEvent&) override { ran_out_of_memory_ = true; }
  void OnDriverRefused(const DriverRefusedEvent& event) override {
    ran_out_of_memory_ = ran_out_of_memory_ || IsOutOfMemory(*state_, event);
  }
  bool ran_out_of_memory() const { return ran_out_of_memory_; }

 private:
  const ReplayState* state_ = nullptr;
  bool ran_out_of_memory_ = false;
};

bool HasBadEnd(const ReplayReport& report) {
  return std::ranges::any_of(
      report.processes, [](const ReplayReport::Process& process) { return process.replayed && IsBadEnd(process.end); });
}

void AddBestRows(const Checkpointing& checkpointing, Summary& summary) {
  for (DeviceRow& row : summary.devices) {
    for (const CheckpointDevice& device : checkpointing.devices) {
      const bool same = device.process == row.process && device.name == row.name && !row.peak_is_evicted;
      if (const CheckpointRow* best = same ? device.best() : nullptr) row.checkpointing = *best;
    }
  }
}

}  // namespace

Task<FailureSigns> LookForFailures(JointReplays& replays) {
  FailurePass pass;
  const absl::StatusOr<ReplayReport> report = co_await replays.Next(pass);
  co_return FailureSigns{pass.ran_out_of_memory(), report.ok() && HasBadEnd(*report)};
}

bool RanOutOfMemory(const Summary& summary) {
  const auto ran_out = [](const DeviceRow& device) { return device.num_ooms > 0; };
  return summary.refusals > 0 || std::ranges::any_of(summary.devices, ran_out);
}

SummaryAdditions::SummaryAdditions(SharedCategories& shared, const Selection& selection, Wanted wanted)
    : shared_(shared), selection_(selection), wanted_(wanted) {
  if (wanted.checkpoints == Checkpoints::kAlways) StartCheckpointing();
}

void SummaryAdditions::StartCheckpointing() {
  if (!checkpointing_) checkpointing_.emplace(AnalyzeCheckpointing(shared_, selection_));
}

void SummaryAdditions::Start(const FailureSigns& signs) {
  const bool has_errors = signs.ran_out_of_memory && wanted_.errors;
  if (has_errors && wanted_.checkpoints != Checkpoints::kNever) StartCheckpointing();
  if (has_errors && !errors_) errors_.emplace(AnalyzeOutOfMemory(shared_, selection_.WithAllBlocks()));
  if (signs.has_bad_end && wanted_.endings && !endings_)
    endings_.emplace(AnalyzeEndings(shared_.replays(), selection_));
}

// Failures outside of the window may have started analyses whose results the summary does not need.
Task<absl::Status> SummaryAdditions::AddTo(Summary& summary) {
  const FailureSigns signs = {wanted_.errors && RanOutOfMemory(summary), HasBadEnd(summary.report)};
  Start(signs);
  if (checkpointing_ && (signs.ran_out_of_memory || wanted_.checkpoints == Checkpoints::kAlways)) {
    const absl::StatusOr<Checkpointing>& checkpointing = co_await *checkpointing_;
    if (!checkpointing.ok()) co_return checkpointing.status();
    AddBestRows(*checkpointing, summary);
  }
  if (signs.ran_out_of_memory) {
    absl::StatusOr<std::vector<OutOfMemory>>& errors = co_await *errors_;
    if (!errors.ok()) co_return errors.status();
    summary.out_of_memory = *std::move(errors);
  }
  if (endings_) {
    absl::StatusOr<std::vector<Ending>>& endings = co_await *endings_;
    if (!endings.ok()) co_return endings.status();
    summary.endings = *std::move(endings);
  }
  co_return absl::OkStatus();
}

}  // namespace memoir
