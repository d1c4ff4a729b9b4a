#include "tools/analyze/out_of_memory.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "tools/analyze/windowed_visitor.h"

namespace memoir {
namespace {

class OutOfMemoryPass : public WindowedVisitor {
 public:
  OutOfMemoryPass(const Capture& capture, const Selection& selection, std::size_t most)
      : WindowedVisitor(capture, selection), most_(most) {}
  std::vector<OutOfMemory> TakeErrors() { return {errors_.begin(), errors_.end()}; }
  // As many as errors.
  std::vector<GrowthQuestion> TakeQuestions() { return {questions_.begin(), questions_.end()}; }

 protected:
  void ProcessBegins(const ProcessEvent&) override {
    clock_ = {};
    requests_.clear();
    last_step_.reset();
  }
  void RangeBegins(const RangeBeginEvent& event) override { clock_.RangeBegins(event); }
  void RangeEnds(const RangeEndEvent& event) override {
    clock_.RangeEnds(event, state().dictionary().text(event.range->name));
  }
  void ModuleEnters(const ModuleEvent& event) override { clock_.ModuleEnters(event); }
  void Stepped(const StepEvent& event) override {
    clock_.Stepped();
    last_step_ = event.step;
  }
  void Allocated(const AllocateEvent& event) override;
  void RanOutOfMemory(const OutOfMemoryEvent& event) override;

 private:
  // Of the operator call that last allocated on a device.
  struct Requests {
    std::uint64_t call = 0;
    std::uint32_t count = 0;
  };
  OutOfMemory ErrorOf(const OutOfMemoryEvent& event) const;
  GrowthQuestion QuestionOf(const OutOfMemoryEvent& event) const;

  const std::size_t most_;
  std::deque<OutOfMemory> errors_;
  std::deque<GrowthQuestion> questions_;
  LoopClock clock_;
  std::map<DeviceId, Requests> requests_;
  std::optional<std::uint64_t> last_step_;
};

void OutOfMemoryPass::Allocated(const AllocateEvent& event) {
  if (event.block->operator_call == 0) return;
  Requests& requests = requests_[event.block->device];
  if (requests.call != event.block->operator_call) requests = {event.block->operator_call, 0};
  ++requests.count;
}

OutOfMemory OutOfMemoryPass::ErrorOf(const OutOfMemoryEvent& event) const {
  const Block& asked = *event.asked;
  const Dictionary& dictionary = state().dictionary();
  const DeviceMemory& memory = state().memory(asked.device);
  OutOfMemory error;
  error.device = ToString(dictionary.device(asked.device));
  error.process = event.process;
  error.rank = capture().processes()[event.process.value].rank();
  error.ns = Nanoseconds(event);
  error.asked_bytes = asked.bytes;
  error.device_free = event.device_free;
  error.operator_name = dictionary.text(asked.operator_name);
  error.leaf_name = dictionary.text(asked.leaf_name);
  error.range_name = dictionary.text(asked.user_name);
  if (asked.module.valid()) error.module = ModuleHolding(asked, dictionary);
  if (asked.module.valid()) error.module_class = dictionary.module(asked.module).class_name;
  error.phase = asked.phase;
  error.step = last_step_;
  error.optimizer_steps = clock_.steps(StepKind::kOptimizer);
  error.allocated_bytes = memory.allocated().all;
  error.active_bytes = memory.active().all;
  error.reserved_bytes = memory.reserved().all;
  const Holdings held = HoldingsOf(state(), asked.device);
  error.by_operator = Sorted(held.by_operator);
  error.by_module = Sorted(held.by_module);
  error.room = RoomFor(state(), asked, event.device_free);
  return error;
}

GrowthQuestion OutOfMemoryPass::QuestionOf(const OutOfMemoryEvent& event) const {
  const Block& asked = *event.asked;
  GrowthQuestion question;
  question.process = event.process;
  question.device = asked.device;
  const std::optional<StepKind> kind = clock_.BestKind();
  if (!kind) return question;
  question.position.kind = *kind;
  question.position.step = clock_.steps(*kind);
  if (const LoopPosition* running = clock_.Running(event.thread, *kind); running != nullptr)
    question.position = *running;
  const auto requests = requests_.find(asked.device);
  if (requests != requests_.end() && requests->second.call == asked.operator_call)
    question.requests_before = requests->second.count;
  question.held = HoldingsOf(state(), asked.device, asked.operator_call);
  question.reserved = state().memory(asked.device).reserved().all;
  return question;
}

void OutOfMemoryPass::RanOutOfMemory(const OutOfMemoryEvent& event) {
  if (!in_window()) return;
  errors_.push_back(ErrorOf(event));
  questions_.push_back(QuestionOf(event));
  errors_.back().growth.kind = clock_.BestKind();
  if (errors_.size() <= most_) return;
  errors_.pop_front();
  questions_.pop_front();
}

// What is asked of the second replay: errors of programs that have steps.
absl::Status AddGrowth(const Capture& capture, const Selection& selection, std::vector<GrowthQuestion> questions,
                       std::vector<OutOfMemory>& errors) {
  std::vector<GrowthQuestion> asked;
  std::vector<OutOfMemory*> of;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (!errors[i].growth.kind) continue;
    asked.push_back(std::move(questions[i]));
    of.push_back(&errors[i]);
  }
  std::vector<Growth> growths(asked.size());
  const absl::Status status = AnalyzeGrowth(capture, selection, asked, &growths);
  for (std::size_t i = 0; i < of.size(); ++i) of[i]->growth = std::move(growths[i]);
  return status;
}

}  // namespace

absl::StatusOr<std::vector<OutOfMemory>> AnalyzeOutOfMemory(const Capture& capture, const Selection& selection,
                                                            std::size_t most) {
  OutOfMemoryPass pass(capture, selection, most);
  ReplayOptions replay = ReplayOptionsFor(selection, false, false);
  replay.modules = true;
  const absl::StatusOr<ReplayReport> report = capture.Replay(pass, replay);
  if (!report.ok()) return report.status();
  if (!pass.found().ok()) return pass.found();
  std::vector<OutOfMemory> errors = pass.TakeErrors();
  const absl::Status status = AddGrowth(capture, selection, pass.TakeQuestions(), errors);
  if (!status.ok()) return status;
  return errors;
}

const OutOfMemory& DecisiveError(const std::vector<OutOfMemory>& errors) {
  const OutOfMemory* decisive = nullptr;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    const bool last = i + 1 == errors.size() || errors[i + 1].process != errors[i].process;
    if (last && (decisive == nullptr || errors[i].ns < decisive->ns)) decisive = &errors[i];
  }
  return *decisive;
}

}  // namespace memoir
