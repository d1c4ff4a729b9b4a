// The part of ChunkBuilder for Python stacks and calls.
#include "tracker/writer/chunk_builder.h"

namespace memoir {

void ChunkBuilder::MarkUsedStacks(StackTable::Users users, const std::function<void(std::uint32_t)>& use) const {
  const auto use_both = [&use](const auto& of) {
    use(of.stack);
    use(of.forward_stack);
  };
  for (const auto& [thread, state] : threads_.states()) {
    use(state.stack);
    for (const OpenRange& range : state.ranges.kept()) use_both(range);
  }
  if (users == StackTable::Users::kThreads) return;
  for (const StepPattern& pattern : patterns_.patterns()) {
    for (const PatternEvent& event : pattern.events) use(event.stack);
  }
  memory_.live().ForEach(use_both);
  memory_.freeing().ForEach(use_both);
}

void ChunkBuilder::TakeStack(ThreadState& thread, const StackRecord& record) {
  const auto* frames = reinterpret_cast<const StackFrame*>(&record + 1);
  thread.stack = stacks_.Replace(thread.stack, record.kept, {frames, record.header.count});
}

std::uint32_t ChunkBuilder::OwnStack(const ThreadState& thread) const {
  return thread.stack != 0 ? thread.stack : threads_.FindWorkingThread(thread).stack;
}

void ChunkBuilder::AddStack(ThreadState& thread, const EventGroup& group, RunColumns& run) {
  TakeStack(thread, group.As<StackRecord>());
  stacks_.Define(thread.stack, part_, names_, &definitions_);
  run.Put(RunColumn::kStack, thread.stack);
}

void ChunkBuilder::AddCall(const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<CallRecord>();
  if (group.kind == RecordKind::kCallBegin) {
    Names::Name* code = names_.FindOperator(record.code);
    if (code != nullptr) names_.Define(code, part_, &definitions_);
    run.Put(RunColumn::kCode, code == nullptr ? 0 : code->id);
  }
  run.Put(RunColumn::kCallsAround, record.around);
}

}  // namespace memoir
