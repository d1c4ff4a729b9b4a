#include "tools/analyze/oom/out_of_memory.h"

#include <algorithm>
#include <deque>
#include <map>
#include <utility>

#include "tools/analyze/categories/block_categories.h"
#include "tools/analyze/grouping/driver_holders.h"
#include "tools/analyze/oom/out_of_memory_sums.h"
#include "tools/analyze/pass/windowed_visitor.h"

namespace memoir {
namespace {

// Whether torch asked for its tensors on the device, by its caching allocator or without one.
bool IsOfTensors(const OutOfMemory& error) {
  return !error.refusal || (!error.refusal->of_host && error.refusal->library.starts_with("libc10_cuda"));
}

class OutOfMemoryPass : public WindowedVisitor {
 public:
  OutOfMemoryPass(const Capture& capture, const Selection& selection, std::size_t most,
                  const BlockCategories& categories)
      : WindowedVisitor(capture, selection), most_(most), categories_(categories), lines_(selection.own) {}
  std::vector<OutOfMemory> TakeErrors() { return {errors_.begin(), errors_.end()}; }
  // As many as errors.
  std::vector<GrowthQuestion> TakeQuestions() { return {questions_.begin(), questions_.end()}; }

 protected:
  void SeeProcessBegin(const ProcessEvent&) override {
    clock_ = {};
    inputs_.Clear();
    requests_.clear();
    last_step_.reset();
    readings_.clear();
    driver_is_recorded_ = false;
  }
  void SeeRangeBegin(const RangeBeginEvent& event) override { clock_.RangeBegins(event); }
  void SeeRangeEnd(const RangeEndEvent& event) override {
    StepBegins(clock_.RangeEnds(event, state().dictionary().text(event.range->name)));
  }
  void SeeModuleEnter(const ModuleEvent& event) override { StepBegins(clock_.ModuleEnters(event)); }
  void SeeStep(const StepEvent& event) override {
    StepBegins(clock_.Stepped());
    last_step_ = event.step;
  }
  void SeeAllocate(const AllocateEvent& event) override;
  void SeeDeallocate(const DeallocateEvent& event) override { inputs_.Freed(*event.block); }
  void SeeOutOfMemory(const OutOfMemoryEvent& event) override;
  void SeeDriverAllocate(const DriverAllocateEvent& event) override;
  void SeeDriverRefused(const DriverRefusedEvent& event) override;
  void SeeDeviceReading(const DeviceReadingEvent& event) override {
    driver_is_recorded_ = true;
    readings_[event.device] = event;
  }

 private:
  // Of the operator call that last allocated on a device.
  struct Requests {
    std::uint64_t call = 0;
    std::uint32_t count = 0;
  };
  // Where in the program the newest refusal was.
  struct Asked {
    ThreadId thread;
    NameId library;
    std::uint64_t call = 0;  // OpenRange::call of the innermost range; 0: none
    std::uint64_t bytes = 0;
    bool operator==(const Asked&) const = default;
  };
  void StepBegins(std::optional<StepKind> kind) {
    if (kind) inputs_.StepBegins(*kind);
  }
  Asked WhereOf(const Event& event, const DriverBlock& block) const;
  // What all errors have, and who holds what.
  OutOfMemory ErrorAt(const Event& event, DeviceId device) const;
  void AddHolders(DeviceId device, OutOfMemory& error) const;
  void AddPinned(OutOfMemory& error) const;
  OutOfMemory ErrorOf(const OutOfMemoryEvent& event);
  OutOfMemory ErrorOf(const DriverRefusedEvent& event) const;
  // Of the outermost operator that runs on the thread; 0: none.
  std::uint64_t OperatorCall(ThreadId thread) const;
  GrowthQuestion QuestionOf(const Event& event, DeviceId device, std::uint64_t operator_call) const;
  void Add(OutOfMemory error, GrowthQuestion question);

  const std::size_t most_;
  const BlockCategories& categories_;
  SourceLines lines_;
  std::deque<OutOfMemory> errors_;
  std::deque<GrowthQuestion> questions_;
  LoopClock clock_;
  InputGrowth inputs_;
  std::map<DeviceId, Requests> requests_;
  std::optional<std::uint64_t> last_step_;
  std::map<DeviceId, DeviceReadingEvent> readings_;  // the newest
  bool driver_is_recorded_ = false;                  // in the process in hand
  std::optional<Asked> refused_;                     // the newest error, where it is a refusal
};

void OutOfMemoryPass::SeeAllocate(const AllocateEvent& event) {
  const DeviceMemory& memory = state().memory(event.block->device);
  const bool is_input = Rules()[categories_.RuleOf(*event.block)].kept == Category::kInput;
  if (memory.caching()) inputs_.Allocated(*event.block, is_input, memory.allocated().all);
  if (event.block->operator_call == 0) return;
  Requests& requests = requests_[event.block->device];
  if (requests.call != event.block->operator_call) requests = {event.block->operator_call, 0};
  ++requests.count;
}

OutOfMemory OutOfMemoryPass::ErrorAt(const Event& event, DeviceId device) const {
  const DeviceMemory& memory = state().memory(device);
  OutOfMemory error;
  error.device = ToString(state().dictionary().device(device));
  error.process = event.process;
  error.rank = capture().processes()[event.process.value].rank();
  error.ns = Nanoseconds(event);
  error.step = last_step_;
  error.optimizer_steps = clock_.steps(StepKind::kOptimizer);
  error.allocated_bytes = memory.allocated().all;
  error.active_bytes = memory.active().all;
  error.reserved_bytes = memory.reserved().all;
  AddHolders(device, error);
  return error;
}

void OutOfMemoryPass::AddHolders(DeviceId device, OutOfMemory& error) const {
  const Holdings held = HoldingsOf(state(), device, categories_);
  if (!state().memory(device).caching()) error.allocated_bytes = held.bytes;
  error.by_operator = Sorted(held.by_operator);
  error.by_module = Sorted(held.by_module);
  error.by_category = HoldingsByCategory(state(), device, categories_);
  if (driver_is_recorded_ || state().driver().size() > 0) error.outside = OutsideTorch(state(), device);
  const auto reading = readings_.find(device);
  if (reading == readings_.end()) return;
  error.other_processes = reading->second.other_processes_bytes;
  error.device_total = reading->second.total_bytes;
}

// Of pinned host memory: who has taken it, and whose tensors lie in it.
void OutOfMemoryPass::AddPinned(OutOfMemory& error) const {
  error.pinned = PinnedBy(state());
  const Dictionary& dictionary = state().dictionary();
  for (std::uint32_t i = 0; i < dictionary.devices(); ++i) {
    const DeviceInfo& device = dictionary.device(DeviceId{i});
    if (device.process != error.process || device.type != "pinned") continue;
    const Holdings held = HoldingsOf(state(), DeviceId{i}, categories_);
    error.by_operator = Sorted(held.by_operator);
    error.by_module = Sorted(held.by_module);
    error.by_category = HoldingsByCategory(state(), DeviceId{i}, categories_);
    error.allocated_bytes = held.bytes;
  }
}

OutOfMemory OutOfMemoryPass::ErrorOf(const OutOfMemoryEvent& event) {
  const Block& asked = *event.asked;
  const Dictionary& dictionary = state().dictionary();
  OutOfMemory error = ErrorAt(event, asked.device);
  error.asked_bytes = asked.bytes;
  error.device_free = event.device_free;
  error.unaccounted = Unaccounted(error);
  error.device_limit = event.device_limit;
  error.operator_name = dictionary.text(asked.operator_name);
  error.leaf_name = dictionary.text(asked.leaf_name);
  error.line = lines_.Of(asked.line_callstack(), dictionary);
  if (asked.forward_callstack.valid()) error.backward_line = lines_.Of(asked.callstack, dictionary);
  error.range_name = dictionary.text(asked.user_name);
  if (asked.module.valid()) error.module = ModuleHolding(asked, dictionary);
  if (asked.module.valid()) error.module_class = dictionary.module(asked.module).class_name;
  error.phase = asked.phase;
  error.room = RoomFor(state(), asked, event.device_free, event.device_limit);
  if (const std::optional<StepKind> kind = clock_.BestKind())
    error.fitting_input = inputs_.FitAt(asked.device, *kind, UsableBytes(error));
  return error;
}

OutOfMemory OutOfMemoryPass::ErrorOf(const DriverRefusedEvent& event) const {
  const DriverBlock& asked = *event.asked;
  const Dictionary& dictionary = state().dictionary();
  OutOfMemory error = ErrorAt(event, asked.device);
  error.refusal = RefusalOf(state(), event);
  error.asked_bytes = asked.bytes;
  error.device_free = event.device_free.value_or(0);
  error.device_free_known = event.device_free.has_value();
  error.unaccounted = Unaccounted(error);
  error.operator_name = dictionary.text(asked.operator_name);
  error.range_name = dictionary.text(asked.user_name);
  if (asked.module.valid()) {
    const Module& module = dictionary.module(asked.module);
    error.module = module.place();
    error.module_class = module.class_name;
  }
  error.phase = asked.phase;
  Block like;
  like.device = asked.device;
  like.bytes = asked.bytes;
  error.room = RoomFor(state(), like, error.device_free, std::nullopt);
  error.room.cause = OutOfMemoryCause::kRefused;
  if (error.refusal->of_host) AddPinned(error);
  return error;
}

OutOfMemoryPass::Asked OutOfMemoryPass::WhereOf(const Event& event, const DriverBlock& block) const {
  const RangeStack& stack = state().stack(event.thread);
  return {event.thread, block.library, stack.empty() ? 0 : stack.back().call, block.bytes};
}

std::uint64_t OutOfMemoryPass::OperatorCall(ThreadId thread) const {
  const RangeStack& stack = state().stack(thread);
  const std::int32_t depth = stack.empty() ? -1 : stack.back().outermost_operator;
  return depth < 0 ? 0 : stack[static_cast<std::size_t>(depth)].call;
}

GrowthQuestion OutOfMemoryPass::QuestionOf(const Event& event, DeviceId device, std::uint64_t operator_call) const {
  GrowthQuestion question;
  question.process = event.process;
  question.device = device;
  const std::optional<StepKind> kind = clock_.BestKind();
  if (!kind) return question;
  question.position.kind = *kind;
  question.position.step = clock_.steps(*kind);
  if (const LoopPosition* running = clock_.Running(event.thread, *kind); running != nullptr)
    question.position = *running;
  const auto requests = requests_.find(device);
  if (requests != requests_.end() && requests->second.call == operator_call)
    question.requests_before = requests->second.count;
  question.held = HoldingsOf(state(), device, categories_, operator_call);
  question.reserved = state().memory(device).reserved().all;
  return question;
}

void OutOfMemoryPass::Add(OutOfMemory error, GrowthQuestion question) {
  errors_.push_back(std::move(error));
  questions_.push_back(std::move(question));
  errors_.back().growth.kind = clock_.BestKind();
  refused_.reset();
  if (errors_.size() <= most_) return;
  errors_.pop_front();
  questions_.pop_front();
}

// A library that makes a communicator or a handle was refused memory first: that is one error.
void OutOfMemoryPass::SeeDriverRefused(const DriverRefusedEvent& event) {
  driver_is_recorded_ = true;
  if (!in_window()) return;
  Asked where = WhereOf(event, *event.asked);
  const bool of_library = event.asked->call == v1::COMMUNICATOR || event.asked->call == v1::HANDLE;
  if (of_library && refused_) {
    where.bytes = refused_->bytes;
    if (where == *refused_ && errors_.back().process == event.process) {
      errors_.back().refusal = RefusalOf(state(), event);
      return;
    }
  }
  if (!IsOutOfMemory(state(), event)) return;
  OutOfMemory error = ErrorOf(event);
  GrowthQuestion question = QuestionOf(event, event.asked->device, IsOfTensors(error) ? OperatorCall(event.thread) : 0);
  Add(std::move(error), std::move(question));
  refused_ = WhereOf(event, *event.asked);
}

// The same request of the same operator call was given after all: it was tried again with success.
void OutOfMemoryPass::SeeDriverAllocate(const DriverAllocateEvent& event) {
  driver_is_recorded_ = true;
  if (!refused_ || refused_->call == 0 || WhereOf(event, *event.block) != *refused_) return;
  errors_.pop_back();
  questions_.pop_back();
  refused_.reset();
}

void OutOfMemoryPass::SeeOutOfMemory(const OutOfMemoryEvent& event) {
  if (!in_window()) return;
  Add(ErrorOf(event), QuestionOf(event, event.asked->device, event.asked->operator_call));
}

// What is asked of the second replay: errors of programs that have steps.
absl::Status AddGrowth(const Capture& capture, const Selection& selection, const BlockCategories& categories,
                       std::vector<GrowthQuestion> questions, std::vector<OutOfMemory>& errors) {
  std::vector<GrowthQuestion> asked;
  std::vector<OutOfMemory*> of;
  for (std::size_t i = 0; i < errors.size(); ++i) {
    if (!errors[i].growth.kind) continue;
    asked.push_back(std::move(questions[i]));
    of.push_back(&errors[i]);
  }
  std::vector<Growth> growths(asked.size());
  const absl::Status status = AnalyzeGrowth(capture, selection, categories, asked, &growths);
  for (std::size_t i = 0; i < of.size(); ++i) {
    of[i]->growth = std::move(growths[i]);
    // Else no request of the step before is the same.
    if (!IsOfTensors(*of[i])) of[i]->growth.asked_then.reset();
  }
  return status;
}

}  // namespace

absl::StatusOr<std::vector<OutOfMemory>> AnalyzeOutOfMemory(const Capture& capture, const Selection& selection,
                                                            std::size_t most) {
  const Capture::SharedDecoding shared(capture);
  ReplayOptions replay = ReplayOptionsFor(selection, false, false);
  replay.modules = true;
  const absl::StatusOr<BlockCategories> categories =
      CategorizeBlocks(capture, ReplayOptionsFor(selection, true, false));
  if (!categories.ok()) return categories.status();
  OutOfMemoryPass pass(capture, selection, most, *categories);
  const absl::StatusOr<ReplayReport> report = capture.Replay(pass, replay);
  if (!report.ok()) return report.status();
  if (!pass.found().ok()) return pass.found();
  std::vector<OutOfMemory> errors = pass.TakeErrors();
  const absl::Status status = AddGrowth(capture, selection, *categories, pass.TakeQuestions(), errors);
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
