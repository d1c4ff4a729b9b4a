#include "tracker/writer/pack/range_packer.h"

#include <string_view>

#include "tracker/writer/events/event_kinds.h"

namespace memoir {

void RangePacker::AddBegin(ThreadState& thread, const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<RangeBeginRecord>();
  const bool is_inline = (record.header.flags & kInlineName) != 0;
  Names::Name* name = is_inline ? shared_.names.FindText(group.text) : shared_.names.FindOperator(record.name);
  OpenRange range;
  range.kind = EventKindOf(RecordKind::kRangeBegin, record.header.flags);
  range.begin_tick = record.tick;
  if (name != nullptr) {
    range.name = shared_.DefineName(name);
    range.operator_id = name->is_operator ? name->ring_id : 0;
  }
  range.role = RoleOf(range.kind, name == nullptr ? std::string_view() : std::string_view(name->text));
  if (range.operator_id != 0) shared_.memory.CountCall(range.operator_id, thread.ranges.outermost_operator() == 0);
  thread.ranges.Push(range);
  const bool backward = range.kind == EventKind::kRangeBeginBackward;
  const ThreadState* forward = backward ? shared_.threads.FindByTorchId(record.forward_thread) : nullptr;
  thread.modules.BeginRange(thread.ranges, shared_.OwnStack(thread), record.sequence,
                            forward == nullptr ? nullptr : &forward->modules);
  run.PutBegin(range.name, record.sequence);
  if (backward) run.Put(RunColumn::kForwardThread, record.forward_thread);
  arguments_.AddArguments(group, run);
}

void RangePacker::AddEnd(ThreadState& thread, const EventGroup& group, RunColumns& run) {
  thread.ranges.Pop();
  thread.modules.EndRanges(thread.ranges);
  arguments_.AddArguments(group, run);
}

void RangePacker::AddModuleEnter(ThreadState& thread, const EventGroup& group, RunColumns& run) {
  AddModuleCall(thread, group, run, true);
}

void RangePacker::AddModuleExit(ThreadState& thread, const EventGroup& group, RunColumns& run) {
  AddModuleCall(thread, group, run, false);
}

void RangePacker::AddModuleCall(ThreadState& thread, const EventGroup& group, RunColumns& run, bool begins) {
  Names::Name* const module = shared_.names.FindOperator(group.As<ModuleRecord>().module);
  run.Put(RunColumn::kModule, shared_.DefineName(module));
  thread.modules.AddCall(thread.ranges, module == nullptr ? 0 : module->ring_id, begins);
  shared_.modules_are_followed = true;
}

}  // namespace memoir
