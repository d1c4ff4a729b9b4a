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

absl::StatusOr<std::vector<StepTime>> FindStepTimes(const Capture& capture, const Selection& selection) {
  StepPass pass(capture, selection);
  ReplayOptions options = ReplayOptionsFor(selection, false, false);
  options.modules = true;
  const absl::StatusOr<ReplayReport> report = capture.Replay(pass, options);
  if (!report.ok()) return report.status();
  if (!pass.selection_status().ok()) return pass.selection_status();
  return std::move(pass.times);
}

}  // namespace memoir
