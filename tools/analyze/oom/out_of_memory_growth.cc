#include "tools/analyze/oom/out_of_memory_growth.h"

#include <algorithm>
#include <cstddef>
#include <map>
#include <string_view>
#include <utility>

#include "tools/analyze/pass/window/windowed_visitor.h"

namespace memoir {
namespace {

std::vector<HoldingGrowth> Difference(const Holdings::ByName& now, const Holdings::ByName& then) {
  std::map<std::string, std::int64_t> more;
  for (const auto& [name, holder] : now) more[name] += static_cast<std::int64_t>(holder.bytes);
  for (const auto& [name, holder] : then) more[name] -= static_cast<std::int64_t>(holder.bytes);
  std::vector<HoldingGrowth> grown;
  for (const auto& [name, bytes] : more) {
    if (bytes != 0) grown.push_back({name, bytes});
  }
  std::ranges::stable_sort(grown, std::ranges::greater(), &HoldingGrowth::bytes);
  return grown;
}

std::int64_t SignedDifference(std::uint64_t now, std::uint64_t then) {
  return static_cast<std::int64_t>(now) - static_cast<std::int64_t>(then);
}

// Compares each error with the same instant of the previous step, when the replay reaches that instant.
class EarlierPass : public WindowedVisitor {
 public:
  EarlierPass(const Capture& capture, const Selection& selection, const BlockCategories& categories,
              const std::vector<GrowthQuestion>& questions, std::vector<OutOfMemoryGrowth>* growths)
      : WindowedVisitor(capture, selection), categories_(categories), questions_(questions), growths_(*growths) {
    for (std::size_t i = 0; i < questions.size(); ++i) Ask(i);
  }

 protected:
  void SeeProcessBegin(const ProcessEvent&) override {
    clock_ = {};
    requests_.clear();
    last_step_.reset();
    recorded_ = true;
    steps_.clear();
  }
  void SeeRangeBegin(const RangeBeginEvent& event) override;
  void SeeRangeEnd(const RangeEndEvent& event) override {
    Begins(clock_.SeeRangeEnd(event, state().dictionary().text(event.range->name)), event);
  }
  void SeeModuleEnter(const ModuleEvent& event) override { Begins(clock_.SeeModuleEnter(event), event); }
  void SeeStep(const StepEvent& event) override {
    Begins(clock_.SeeStep(), event);
    last_step_ = event.step;
  }
  void SeeAllocate(const AllocateEvent& event) override;

 public:
  void OnSwitch(const LevelChangeEvent& event) override {
    recorded_ = event.level == v1::LEVEL_ALL;
    for (auto& [kind, whole] : steps_) whole = whole && recorded_;
  }

 private:
  using RequestPlace = std::pair<ProcessId, LoopPosition>;
  struct Request {
    std::size_t question;
    std::uint64_t call;    // OpenRange::call of the operator in the previous step
    std::uint32_t before;  // allocations of the call that still precede the request
  };
  void Ask(std::size_t question);  // notes at which instants of the replay to compare
  // Call it when a step of `kind` begins. At this instant, the live blocks are those that the previous step left.
  void Begins(std::optional<StepKind> kind, const Event& event);
  void Compare(std::size_t question, const Event& event);

  const BlockCategories& categories_;
  const std::vector<GrowthQuestion>& questions_;
  std::vector<OutOfMemoryGrowth>& growths_;
  // Indices of questions, by the operator call of the previous step.
  absl::flat_hash_map<RequestPlace, std::vector<std::size_t>> calls_;
  // Indices of questions, by the begin of the step with the error. Only `kind` and `step` of the LoopPosition are set.
  absl::flat_hash_map<RequestPlace, std::vector<std::size_t>> begins_;
  LoopClock clock_;
  std::optional<std::uint64_t> last_step_;
  bool recorded_ = true;            // true while operators are recorded
  std::map<StepKind, bool> steps_;  // true if operators were recorded throughout the newest step of this kind
  std::vector<Request> requests_;   // requests that the replay has not reached yet
};

void EarlierPass::Ask(std::size_t question) {
  const GrowthQuestion& asked = questions_[question];
  const LoopPosition& at = asked.position;
  growths_[question].kind = at.kind;
  // `step` counts ended steps for kOptimizer (so 0 in the first step), and begun steps for other kinds (so 1).
  const std::uint64_t first = at.kind == StepKind::kOptimizer ? 0 : 1;
  growths_[question].first = at.step <= first;
  if (at.step <= first) return;
  LoopPosition begin;
  begin.kind = at.kind;
  begin.step = at.step;
  begins_[{asked.process, begin}].push_back(question);
  if (!at.operator_name.valid()) return;
  LoopPosition earlier = at;
  --earlier.step;
  calls_[{asked.process, earlier}].push_back(question);
}

void EarlierPass::Compare(std::size_t question, const Event& event) {
  const GrowthQuestion& asked = questions_[question];
  const Holdings then = HoldingsOf(state(), asked.device, categories_);
  OutOfMemoryGrowth& growth = growths_[question];
  growth.ns = Nanoseconds(event);
  growth.step = last_step_;
  growth.allocated = SignedDifference(asked.held.bytes, then.bytes);
  growth.by_operator = Difference(asked.held.by_operator, then.by_operator);
  growth.by_module = Difference(asked.held.by_module, then.by_module);
  growth.reserved = SignedDifference(asked.reserved, state().memory(asked.device).reserved().all);
}

void EarlierPass::Begins(std::optional<StepKind> kind, const Event& event) {
  if (!kind) return;
  LoopPosition begin;
  begin.kind = *kind;
  begin.step = clock_.steps(*kind);
  const bool was_whole = std::exchange(steps_[*kind], recorded_);
  const auto asked = begins_.find({event.process, begin});
  if (asked == begins_.end()) return;
  for (const std::size_t question : asked->second) {
    if (growths_[question].same_call) continue;
    Compare(question, event);
    growths_[question].unseen = !was_whole;
  }
}

void EarlierPass::SeeRangeBegin(const RangeBeginEvent& event) {
  const LoopClock::Positions* positions = clock_.SeeRangeBegin(event);
  if (positions == nullptr) return;
  for (const LoopPosition& position : *positions) {
    const auto asked = calls_.find({event.process, position});
    if (asked == calls_.end()) continue;
    for (const std::size_t question : asked->second) {
      Compare(question, event);
      growths_[question].same_call = true;
      requests_.push_back({question, event.range->call, questions_[question].requests_before});
    }
  }
}

void EarlierPass::SeeAllocate(const AllocateEvent& event) {
  constexpr std::uint64_t kRounding = 512;
  const Block& block = *event.block;
  for (std::size_t i = 0; i < requests_.size();) {
    Request& request = requests_[i];
    const bool same = block.operator_call == request.call && block.device == questions_[request.question].device;
    if (!same || request.before-- > 0) {
      ++i;
      continue;
    }
    const bool caching = state().memory(block.device).caching();
    growths_[request.question].asked_then =
        caching ? (block.requested_bytes + kRounding - 1) / kRounding * kRounding : block.bytes;
    requests_.erase(requests_.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

}  // namespace

Task<absl::Status> AnalyzeOutOfMemoryGrowth(JointReplays& replays, const Selection& selection,
                                            const BlockCategories& categories,
                                            const std::vector<GrowthQuestion>& questions,
                                            std::vector<OutOfMemoryGrowth>* growths) {
  EarlierPass pass(replays.capture(), selection, categories, questions, growths);
  const absl::StatusOr<ReplayReport> report = co_await replays.Next(pass, {.modules = true});
  co_return report.status();
}

}  // namespace memoir
