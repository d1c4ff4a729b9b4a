#include "tools/analyze/pass/step_times.h"

#include <array>

#include "tools/analyze/pass/window/windowed_visitor.h"

namespace memoir {
namespace {

class StepPass : public WindowedVisitor {
 public:
  using WindowedVisitor::WindowedVisitor;
  std::vector<StepTime> times;

 protected:
  void SeeStepBegin(StepSource source, const Event& event) override {
    if (in_window())
      begun_[static_cast<std::size_t>(source)].push_back(
          {event.process, steps().newest(source), Nanoseconds(event), source});
  }
  void SeeProcessEnd(const ProcessEvent&) override {
    const std::vector<StepTime>& best = begun_[static_cast<std::size_t>(steps().source())];
    times.insert(times.end(), best.begin(), best.end());
    begun_ = {};
  }

 private:
  std::array<std::vector<StepTime>, kStepSources> begun_;
};

}  // namespace

Task<absl::StatusOr<std::vector<StepTime>>> FindStepTimes(JointReplays& replays, Selection selection) {
  StepPass pass(replays.capture(), selection);
  const absl::StatusOr<ReplayReport> report = co_await replays.Next(pass, {.modules = true});
  if (!report.ok()) co_return report.status();
  if (!pass.selection_status().ok()) co_return pass.selection_status();
  co_return std::move(pass.times);
}

}  // namespace memoir
