#include "tools/analyze/time/over_time_curves.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

#include "tools/analyze/categories/evidence/categorization.h"
#include "tools/analyze/pass/window/windowed_visitor.h"
#include "tools/analyze/time/selected_time.h"

namespace memoir {
namespace {

// Returns the place of a category in a stack of curves, from the bottom. Categories with long-lived blocks are at the
// bottom.
std::size_t StackingOrder(Category category) {
  constexpr std::array<Category, kCategories> kOrder = {
      Category::kParameter, Category::kBuffer,         Category::kOptimizerState, Category::kGradient, Category::kInput,
      Category::kUnknown,   Category::kAutogradDetail, Category::kActivation,     Category::kTemporary};
  return static_cast<std::size_t>(std::ranges::find(kOrder, category) - kOrder.begin());
}

// Returns the categories that occur in any bucket, in their stacking order.
std::vector<CategoryCurve> CategoriesOf(const std::vector<std::vector<std::uint64_t>>& parts_of_most) {
  std::vector<CategoryCurve> curves;
  for (std::size_t category = 0; category < Rules().size(); ++category) {
    CategoryCurve curve{static_cast<CategoryNumber>(category), {}};
    for (const std::vector<std::uint64_t>& parts : parts_of_most)
      curve.bytes.push_back(parts.empty() ? 0 : parts[category]);
    if (std::ranges::any_of(curve.bytes, [](std::uint64_t bytes) { return bytes > 0; }))
      curves.push_back(std::move(curve));
  }
  std::ranges::stable_sort(curves, {},
                           [](const CategoryCurve& curve) { return StackingOrder(Rules()[curve.category].kept); });
  return curves;
}

void Join(const std::vector<bool>& more, std::vector<bool>& marks) {
  for (std::size_t i = 0; i < marks.size(); ++i) marks[i] = marks[i] || more[i];
}

class CurvePass : public WindowedVisitor {
 public:
  // `categories`: nullptr if not requested.
  CurvePass(const Capture& capture, const OverTimeOptions& options, const BlockCategories* categories,
            OverTimeCurves* result)
      : WindowedVisitor(capture, options),
        categories_(categories),
        buckets_(std::max<std::size_t>(options.buckets, 1)),
        in_window_(buckets_),
        result_(result) {}

 protected:
  void SeeProcessEnd(const ProcessEvent& event) override;
  void SeeWindowOpen(const Event& event) override {
    opened_ = BucketOf(event);
    ForEachTrack([&](Track& track) { Note(event, track); });
    steps_.AddRunning(steps(), Nanoseconds(event));
  }
  void SeeWindowClose(const Event& event) override {
    const std::size_t closed = BucketOf(event);
    for (std::size_t i = opened_; i <= closed; ++i) in_window_[i] = true;
    ForEachTrack([&](Track& track) { FillTo(closed, track); });
  }
  void SeeAllocate(const AllocateEvent& event) override;
  void SeeDeallocate(const DeallocateEvent& event) override;
  void SeeFreeCompleted(const FreeCompletedEvent& event) override { TakeCaching(event, event.device); }
  void SeeSegment(const SegmentEvent& event) override { TakeCaching(event, event.segment->device); }
  void SeeRangeBegin(const RangeBeginEvent& event) override {
    if (in_window()) iterations_.SeeRangeBegin(event, state().dictionary().text(event.range->name), Now(event));
  }
  void SeeRangeEnd(const RangeEndEvent& event) override;
  void SeeModuleEnter(const ModuleEvent& event) override {
    if (in_window()) iterations_.SeeModuleEnter(event, Now(event));
  }
  void SeeModuleExit(const ModuleEvent& event) override {
    if (in_window()) iterations_.SeeModuleExit(event, Now(event));
  }
  void SeeStepBegin(StepSource source, const Event& event) override {
    if (in_window()) steps_.Add(source, steps(), Nanoseconds(event));
  }

 private:
  struct Track {
    LevelCurve shown;
    std::uint64_t now = 0;
    std::vector<std::uint64_t> parts;                       // parts of `now`, by category; only for the allocated track
    std::vector<std::vector<std::uint64_t>> parts_of_most;  // by bucket
    std::size_t filled = 0;                                 // number of buckets, from the first, that are final
    std::vector<bool> changes;                              // by bucket: true if `now` changed in it
  };
  struct Curve {
    DeviceCurve shown;
    Track allocated, active, reserved;
    std::vector<bool> followed;  // by slot: true if `allocated` includes the live block
  };
  template <class Function>
  void ForEachTrack(Function function) {
    for (auto& [id, curve] : curves_) {
      for (Track* track : {&curve.allocated, &curve.active, &curve.reserved}) function(*track);
    }
  }
  IterationInstant Now(const Event& event) const { return {Nanoseconds(event), calls_}; }
  Curve& CurveOf(DeviceId id, ProcessId process);
  std::size_t BucketOf(const Event& event) const;
  void FillTo(std::size_t bucket, Track& track);
  void Note(const Event& event, Track& track);
  void NoteChange(const Event& event, Track& track) {
    Note(event, track);
    if (!IsOmitted(event)) track.changes[track.filled] = true;
  }
  static void TakeMost(std::size_t bucket, Track& track);
  void ChangeLive(const Event& event, Track& track, const Block& block, bool more);
  void Change(const Event& event, Track& track, std::uint64_t bytes);
  void TakeCaching(const Event& event, DeviceId id);
  bool IsOmitted(const Event& event) const { return Nanoseconds(event) < result_->begin_ns; }

  const BlockCategories* const categories_;
  std::size_t buckets_;
  std::size_t opened_ = 0;       // bucket in which the current window began
  std::vector<bool> in_window_;  // by bucket, of the current process
  OverTimeCurves* result_;
  std::map<DeviceId, Curve> curves_;  // of the current process
  IterationFinder iterations_;
  StepBeginFinder steps_;
  std::uint64_t calls_ = 0;  // operator calls that have ended
};

CurvePass::Curve& CurvePass::CurveOf(DeviceId id, ProcessId process) {
  const auto [known, added] = curves_.try_emplace(id);
  Curve& curve = known->second;
  if (!added) return curve;
  curve.shown.name = ToString(state().dictionary().device(id));
  curve.shown.process = process;
  curve.shown.rank = capture().processes()[process.value].rank();
  for (Track* track : {&curve.allocated, &curve.active, &curve.reserved}) {
    track->shown.max_bytes.resize(buckets_);
    track->changes.resize(buckets_);
  }
  if (categories_ == nullptr) return curve;
  curve.allocated.parts.resize(Rules().size());
  curve.allocated.parts_of_most.resize(buckets_);
  return curve;
}

std::size_t CurvePass::BucketOf(const Event& event) const {
  const std::uint64_t ns = std::clamp(Nanoseconds(event), result_->begin_ns, result_->end_ns);
  const std::uint64_t span = result_->end_ns - result_->begin_ns;
  if (span == 0) return 0;
  const double place = static_cast<double>(ns - result_->begin_ns) / static_cast<double>(span);
  return std::min(buckets_ - 1, static_cast<std::size_t>(place * static_cast<double>(buckets_)));
}

// A value lasts until the next event, so all buckets in between have it.
void CurvePass::FillTo(std::size_t bucket, Track& track) {
  for (; track.filled <= bucket; ++track.filled) TakeMost(track.filled, track);
  track.filled = bucket;
}

void CurvePass::TakeMost(std::size_t bucket, Track& track) {
  std::uint64_t& most = track.shown.max_bytes[bucket];
  if (track.now <= most) return;
  most = track.now;
  if (!track.parts_of_most.empty()) track.parts_of_most[bucket] = track.parts;
}

void CurvePass::Note(const Event& event, Track& track) {
  if (!IsOmitted(event)) TakeMost(track.filled = BucketOf(event), track);
  if (track.now <= track.shown.peak_bytes) return;
  track.shown.peak_bytes = track.now;
  track.shown.peak_ns = Nanoseconds(event);
}

void CurvePass::ChangeLive(const Event& event, Track& track, const Block& block, bool more) {
  if (in_window() && !IsOmitted(event)) FillTo(BucketOf(event), track);
  if (categories_ != nullptr) {
    std::uint64_t& part = track.parts[categories_->CategoryOf(block)];
    part = more ? part + block.bytes : part - block.bytes;
  }
  track.now = more ? track.now + block.bytes : track.now - block.bytes;
  if (in_window()) NoteChange(event, track);
}

void CurvePass::Change(const Event& event, Track& track, std::uint64_t bytes) {
  if (bytes == track.now) return;
  if (in_window() && !IsOmitted(event)) FillTo(BucketOf(event), track);
  track.now = bytes;
  if (in_window()) NoteChange(event, track);
}

void CurvePass::TakeCaching(const Event& event, DeviceId id) {
  const DeviceMemory& memory = state().memory(id);
  if (!memory.caching()) return;
  Curve& curve = CurveOf(id, event.process);
  Change(event, curve.active, memory.active().all);
  Change(event, curve.reserved, memory.reserved().all);
}

void CurvePass::SeeAllocate(const AllocateEvent& event) {
  TakeCaching(event, event.block->device);
  if (!in_window() && selection().forget_before) return;
  Curve& curve = CurveOf(event.block->device, event.process);
  if (event.block->slot != Block::kNoSlot) {
    if (event.block->slot >= curve.followed.size()) curve.followed.resize(event.block->slot + 1);
    curve.followed[event.block->slot] = true;
  }
  ChangeLive(event, curve.allocated, *event.block, true);
}

void CurvePass::SeeDeallocate(const DeallocateEvent& event) {
  TakeCaching(event, event.block->device);
  Curve& curve = CurveOf(event.block->device, event.process);
  if (event.block->slot != Block::kNoSlot) {
    if (event.block->slot >= curve.followed.size() || !curve.followed[event.block->slot]) return;
    curve.followed[event.block->slot] = false;
  } else if (!in_window() && selection().forget_before) {
    return;
  }
  ChangeLive(event, curve.allocated, *event.block, false);
}

void CurvePass::SeeRangeEnd(const RangeEndEvent& event) {
  if (!in_window()) return;
  const OpenRange& range = *event.range;
  if (range.is_operator && range.outermost_operator == static_cast<std::int32_t>(range.depth) && !event.implicit)
    ++calls_;
  iterations_.SeeRangeEnd(event, Now(event));
}

void CurvePass::SeeProcessEnd(const ProcessEvent&) {
  // Before its begin and after its end a process has no live bytes. Between windows its bytes are unknown.
  if (selection().window.kind == SelectionWindow::Kind::kAll) in_window_.assign(buckets_, true);
  const std::vector<Iteration> iterations = iterations_.Take();
  const StepBegins begun = steps_.Take(steps().source());
  std::vector<DeviceCurve> shown;
  for (auto& [id, curve] : curves_) {
    curve.shown.known = in_window_;
    curve.shown.changes = std::move(curve.allocated.changes);
    for (const Track* track : {&curve.active, &curve.reserved}) Join(track->changes, curve.shown.changes);
    curve.shown.caching = state().memory(id).caching();
    curve.shown.allocated = std::move(curve.allocated.shown);
    curve.shown.categories = CategoriesOf(curve.allocated.parts_of_most);
    if (curve.shown.caching) {
      curve.shown.active = std::move(curve.active.shown);
      curve.shown.reserved = std::move(curve.reserved.shown);
      curve.shown.steps = begun;
      curve.shown.iterations = iterations;
    }
    shown.push_back(std::move(curve.shown));
  }
  std::ranges::stable_partition(shown, &DeviceCurve::caching);  // GPUs first
  std::ranges::move(shown, std::back_inserter(result_->devices));
  curves_.clear();
  in_window_.assign(buckets_, false);
  iterations_ = {};
  steps_ = {};
  calls_ = 0;
}

// Marks the buckets that lie entirely in evicted parts as unknown.
void ForgetEvicted(OverTimeCurves& over_time) {
  for (DeviceCurve& device : over_time.devices) {
    const double buckets = static_cast<double>(device.known.size());
    const double span = static_cast<double>(over_time.end_ns - over_time.begin_ns);
    for (const ReplayReport::Process::Span& evicted : over_time.report.processes[device.process.value].evicted) {
      const auto place = [&](std::uint64_t ns) {
        const std::uint64_t inside = std::clamp(ns, over_time.begin_ns, over_time.end_ns) - over_time.begin_ns;
        return span == 0 ? 0 : static_cast<double>(inside) / span * buckets;
      };
      const auto first = static_cast<std::size_t>(std::ceil(place(evicted.begin_ns)));
      const auto end = static_cast<std::size_t>(place(evicted.end_ns));
      for (std::size_t i = first; i < end; ++i) device.known[i] = false;
    }
  }
}

Task<absl::StatusOr<OverTimeCurves>> DrawOverTime(SharedCategories& shared, OverTimeOptions options) {
  JointReplays& replays = shared.replays();
  if (options.categories) shared.Find();  // starts the pass for categories, in the same replay as `span`
  SelectedTime span(shared.capture(), options);
  absl::StatusOr<ReplayReport> report = co_await replays.Next(span);
  if (!report.ok()) co_return report.status();
  if (!span.selection_status().ok()) co_return span.selection_status();
  OverTimeCurves result;
  result.has_windows = options.window.kind != SelectionWindow::Kind::kAll;
  if (!result.has_windows) result.omitted_ns = span.LeaveOutStartUp(options.most_start_up);
  result.begin_ns = span.begin_ns();
  result.end_ns = span.end_ns();
  const BlockCategories* categories = nullptr;
  if (options.categories) {
    const absl::StatusOr<KnownCategories>& found = co_await shared.Find();
    if (!found.ok()) co_return found.status();
    categories = found->get();
    result.missing = categories->missing;
  }
  CurvePass pass(shared.capture(), options, categories, &result);
  report = co_await replays.Next(pass, {.modules = true});  // iterations are recognized by modules
  if (!report.ok()) co_return report.status();
  result.report = *std::move(report);
  ForgetEvicted(result);
  co_return result;
}

}  // namespace

absl::StatusOr<OverTimeCurves> AnalyzeOverTime(const Capture& capture, const OverTimeOptions& options) {
  JointReplays replays(capture, options);
  SharedCategories categories(replays);
  return replays.Finish(DrawOverTime(categories, options));
}

}  // namespace memoir
