#include "tools/analyze/oom/out_of_memory_pass.h"

#include <algorithm>
#include <utility>

#include "tools/analyze/driver/refusal.h"
#include "tools/analyze/grouping/driver_holdings.h"
#include "tools/analyze/oom/out_of_memory_sums.h"

namespace memoir {

void OutOfMemoryPass::SeeProcessEnd(const ProcessEvent& event) {
  const std::optional<StepKind> kind = clock_.BestKind();
  if (!kind) return;
  for (std::size_t i = errors_.size(); i > 0; --i) {
    OutOfMemory& error = errors_[i - 1];
    if (error.process != event.process) break;
    const bool same = error.growth.kind == kind;
    const std::uint64_t at_error = same ? questions_[i - 1].position.step : 0;
    const std::uint64_t open = *kind == StepKind::kOptimizer ? error.open_optimizer_steps : 0;
    error.steps_after = clock_.steps(*kind) - std::min(clock_.steps(*kind), at_error + open);
    error.step_kind = kind;
  }
}

void OutOfMemoryPass::SeeAllocate(const AllocateEvent& event) {
  const DeviceMemory& memory = state().memory(event.block->device);
  const bool is_input = Rules()[categories_.RuleOf(*event.block)].kept == Category::kInput;
  if (memory.caching()) {
    inputs_.NoteAllocation(*event.block, is_input, memory.allocated().all);
    followers_.NoteAllocation(*event.block, is_input);
  }
  if (event.block->operator_call == 0) return;
  Requests& requests = requests_[event.block->device];
  if (requests.call != event.block->operator_call) requests = {event.block->operator_call, 0};
  ++requests.count;
}

// Returns the number of open optimizer steps. The error ends them, and each end will count as a step.
std::uint64_t OutOfMemoryPass::OpenOptimizerSteps() const {
  std::uint64_t open = 0;
  for (std::uint32_t i = 0; i < state().dictionary().threads(); ++i) {
    const ThreadId thread{i};
    if (state().working_thread(thread) != thread) continue;
    for (const OpenRange& range : state().stack(thread))
      open += range.role.optimizer && state().dictionary().text(range.name).starts_with("Optimizer.step#");
  }
  return open;
}

OutOfMemory OutOfMemoryPass::ErrorAt(const Event& event, DeviceId device) {
  const DeviceMemory& memory = state().memory(device);
  OutOfMemory error;
  error.device = ToString(state().dictionary().device(device));
  error.process = event.process;
  error.rank = capture().processes()[event.process.value].rank();
  error.ns = Nanoseconds(event);
  error.step = last_step_;
  error.optimizer_steps = clock_.steps(StepKind::kOptimizer);
  error.open_optimizer_steps = OpenOptimizerSteps();
  error.allocated_bytes = memory.allocated().all;
  error.active_bytes = memory.active().all;
  error.reserved_bytes = memory.reserved().all;
  AddHolders(device, error);
  return error;
}

void OutOfMemoryPass::AddHolders(DeviceId device, OutOfMemory& error) {
  const Holdings held = HoldingsOf(state(), device, categories_);
  if (!state().memory(device).caching()) error.allocated_bytes = held.bytes;
  error.by_operator = Sorted(held.by_operator);
  error.by_module = Sorted(held.by_module);
  error.by_category = HoldingsByCategory(state(), device, categories_);
  error.by_line = HoldingsByLine(state(), device, categories_, lines_);
  state().ForEachLiveBlock([&](const Block& block) {
    if (block.device == device && followers_.Follows(block)) error.batch_bytes += block.bytes;
  });
  if (driver_is_recorded_ || state().driver().size() > 0) error.outside = HoldingsOutsideTorch(state(), device);
  const auto reading = readings_.find(device);
  if (reading == readings_.end()) return;
  error.other_processes = reading->second.other_processes_bytes;
  error.device_total = reading->second.total_bytes;
}

// Adds the owners of pinned host memory: the libraries that allocated it, and the tensors in it.
void OutOfMemoryPass::AddPinned(OutOfMemory& error) const {
  error.pinned = PinnedHoldings(state());
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
  error.unaccounted = UnaccountedBytes(error);
  error.device_limit = event.device_limit;
  error.operator_name = dictionary.text(asked.operator_name);
  error.leaf_name = dictionary.text(asked.leaf_name);
  error.line = lines_.LineOf(asked.line_callstack(), dictionary);
  if (asked.forward_callstack.valid()) error.backward_line = lines_.LineOf(asked.callstack, dictionary);
  error.range_name = dictionary.text(asked.user_name);
  if (asked.module.valid()) error.module = ModuleHolding(asked, dictionary);
  if (asked.module.valid()) error.module_class = dictionary.module(asked.module).class_name;
  error.phase = asked.phase;
  error.room = OutOfMemoryRoomFor(state(), asked, event.device_free, event.device_limit);
  if (const std::optional<StepKind> kind = clock_.BestKind())
    error.fitting_input = inputs_.FindFit(asked.device, *kind, UsableBytes(error));
  return error;
}

OutOfMemory OutOfMemoryPass::ErrorOf(const DriverRefusedEvent& event) {
  const DriverBlock& asked = *event.asked;
  const Dictionary& dictionary = state().dictionary();
  OutOfMemory error = ErrorAt(event, asked.device);
  error.refusal = RefusalOf(state(), event);
  error.asked_bytes = asked.bytes;
  error.device_free = event.device_free.value_or(0);
  error.device_free_known = event.device_free.has_value();
  error.unaccounted = UnaccountedBytes(error);
  error.operator_name = dictionary.text(asked.operator_name);
  error.range_name = dictionary.text(asked.user_name);
  if (asked.module.valid()) {
    const Module& module = dictionary.module(asked.module);
    error.module = module.display_path();
    error.module_class = module.class_name;
  }
  error.phase = asked.phase;
  Block like;
  like.device = asked.device;
  like.bytes = asked.bytes;
  error.room = OutOfMemoryRoomFor(state(), like, error.device_free, std::nullopt);
  error.room.cause = OutOfMemoryCause::kRefused;
  if (error.refusal->of_host) AddPinned(error);
  return error;
}

OutOfMemoryPass::DriverRequest OutOfMemoryPass::DriverRequestOf(const Event& event, const DriverBlock& block) const {
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
  if (const LoopPosition* running = clock_.RunningPosition(event.thread, *kind); running != nullptr)
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

// If a library cannot create a communicator or a handle, the driver has refused one of the library's requests just
// before. The two events are one error.
void OutOfMemoryPass::SeeDriverRefused(const DriverRefusedEvent& event) {
  driver_is_recorded_ = true;
  if (!in_window()) return;
  DriverRequest where = DriverRequestOf(event, *event.asked);
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
  GrowthQuestion question =
      QuestionOf(event, event.asked->device, error.asks_for_tensors() ? OperatorCall(event.thread) : 0);
  Add(std::move(error), std::move(question));
  refused_ = DriverRequestOf(event, *event.asked);
}

// Removes the newest error if the same range requests the same bytes again, and the driver grants them.
void OutOfMemoryPass::SeeDriverAllocate(const DriverAllocateEvent& event) {
  driver_is_recorded_ = true;
  if (!refused_ || refused_->call == 0 || DriverRequestOf(event, *event.block) != *refused_) return;
  errors_.pop_back();
  questions_.pop_back();
  refused_.reset();
}

void OutOfMemoryPass::SeeOutOfMemory(const OutOfMemoryEvent& event) {
  if (!in_window()) return;
  Add(ErrorOf(event), QuestionOf(event, event.asked->device, event.asked->operator_call));
}

}  // namespace memoir
