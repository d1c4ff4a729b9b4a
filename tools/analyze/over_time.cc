#include "tools/analyze/over_time.h"

#include <algorithm>
#include <map>

#include "tools/analyze/windowed_visitor.h"

namespace memoir {
namespace {

// Begin and end of the window over all processes.
class SpanPass : public WindowedVisitor {
 public:
  using WindowedVisitor::WindowedVisitor;
  std::uint64_t begin_ns = ~std::uint64_t{0};
  std::uint64_t end_ns = 0;

 protected:
  void WindowOpens(const Event& event) override { begin_ns = std::min(begin_ns, Nanoseconds(event)); }
  void WindowCloses(const Event& event) override { end_ns = std::max(end_ns, Nanoseconds(event)); }
};

class CurvePass : public WindowedVisitor {
 public:
  CurvePass(const Capture& capture, const OverTimeOptions& options, OverTime* result)
      : WindowedVisitor(capture, options),
        buckets_(std::max<std::size_t>(options.buckets, 1)),
        in_window_(buckets_),
        result_(result) {}

 protected:
  void ProcessEnds(const ProcessEvent& event) override;
  void WindowOpens(const Event& event) override {
    opened_ = BucketOf(event);
    for (auto& [id, curve] : curves_) Note(event, curve);
  }
  void WindowCloses(const Event& event) override {
    const std::size_t closed = BucketOf(event);
    for (std::size_t i = opened_; i <= closed; ++i) in_window_[i] = true;
    for (auto& [id, curve] : curves_) FillTo(closed, curve);
  }
  void Allocated(const AllocateEvent& event) override;
  void Deallocated(const DeallocateEvent& event) override;

 private:
  struct Curve {
    DeviceCurve shown;
    std::uint64_t live = 0;
    std::size_t filled = 0;      // buckets before it are final
    std::vector<bool> followed;  // by slot
  };
  Curve& CurveOf(DeviceId id, ProcessId process);
  std::size_t BucketOf(const Event& event) const;
  void FillTo(std::size_t bucket, Curve& curve);
  void Note(const Event& event, Curve& curve);

  std::size_t buckets_;
  std::size_t opened_ = 0;       // bucket where the window in hand opened
  std::vector<bool> in_window_;  // by bucket, of the process in hand
  OverTime* result_;
  std::map<DeviceId, Curve> curves_;  // of the process in hand
};

CurvePass::Curve& CurvePass::CurveOf(DeviceId id, ProcessId process) {
  const auto [known, added] = curves_.try_emplace(id);
  Curve& curve = known->second;
  if (!added) return curve;
  curve.shown.name = ToString(state().dictionary().device(id));
  curve.shown.process = process;
  curve.shown.rank = capture().processes()[process.value].rank();
  curve.shown.max_bytes.resize(buckets_);
  return curve;
}

std::size_t CurvePass::BucketOf(const Event& event) const {
  const std::uint64_t ns = std::clamp(Nanoseconds(event), result_->begin_ns, result_->end_ns);
  const std::uint64_t span = result_->end_ns - result_->begin_ns;
  if (span == 0) return 0;
  const double place = static_cast<double>(ns - result_->begin_ns) / static_cast<double>(span);
  return std::min(buckets_ - 1, static_cast<std::size_t>(place * static_cast<double>(buckets_)));
}

// What is live lasts until the next event: all buckets on the way have it.
void CurvePass::FillTo(std::size_t bucket, Curve& curve) {
  for (; curve.filled <= bucket; ++curve.filled) {
    curve.shown.max_bytes[curve.filled] = std::max(curve.shown.max_bytes[curve.filled], curve.live);
  }
  curve.filled = bucket;
}

void CurvePass::Note(const Event& event, Curve& curve) {
  std::uint64_t& most = curve.shown.max_bytes[curve.filled = BucketOf(event)];
  most = std::max(most, curve.live);
  if (curve.live <= curve.shown.peak_bytes) return;
  curve.shown.peak_bytes = curve.live;
  curve.shown.peak_ns = Nanoseconds(event);
}

void CurvePass::Allocated(const AllocateEvent& event) {
  if (!in_window() && selection().forget_before) return;
  Curve& curve = CurveOf(event.block->device, event.process);
  if (event.block->slot != Block::kNoSlot) {
    if (event.block->slot >= curve.followed.size()) curve.followed.resize(event.block->slot + 1);
    curve.followed[event.block->slot] = true;
  }
  if (in_window()) FillTo(BucketOf(event), curve);
  curve.live += event.block->bytes;
  if (in_window()) Note(event, curve);
}

void CurvePass::Deallocated(const DeallocateEvent& event) {
  Curve& curve = CurveOf(event.block->device, event.process);
  if (event.block->slot != Block::kNoSlot) {
    if (event.block->slot >= curve.followed.size() || !curve.followed[event.block->slot]) return;
    curve.followed[event.block->slot] = false;
  } else if (!in_window() && selection().forget_before) {
    return;
  }
  if (in_window()) FillTo(BucketOf(event), curve);
  curve.live -= event.block->bytes;
}

void CurvePass::ProcessEnds(const ProcessEvent&) {
  // Before and after the whole of a process nothing of it is live; between windows nobody looked.
  if (selection().window.kind == Window::Kind::kAll) in_window_.assign(buckets_, true);
  for (auto& [id, curve] : curves_) {
    curve.shown.in_window = in_window_;
    result_->devices.push_back(std::move(curve.shown));
  }
  curves_.clear();
  in_window_.assign(buckets_, false);
}

}  // namespace

absl::StatusOr<OverTime> AnalyzeOverTime(const Capture& capture, const OverTimeOptions& options) {
  SpanPass span(capture, options);
  absl::StatusOr<ReplayReport> report = capture.Replay(span, ReplayOptionsFor(options, false, false));
  if (!report.ok()) return report.status();
  if (!span.found().ok()) return span.found();
  OverTime result;
  result.begin_ns = span.begin_ns;
  result.end_ns = span.end_ns;
  CurvePass pass(capture, options, &result);
  report = capture.Replay(pass, ReplayOptionsFor(options, false, false));
  if (!report.ok()) return report.status();
  result.report = *std::move(report);
  return result;
}

}  // namespace memoir
