#include "tracker/writer/pack/python_packer.h"

namespace memoir {

void PythonPacker::TakeStack(ThreadState& thread, const StackRecord& record) {
  const auto* frames = reinterpret_cast<const StackFrame*>(&record + 1);
  thread.stack = shared_.stacks.Replace(thread.stack, record.kept, {frames, record.header.count});
}

void PythonPacker::AddStack(ThreadState& thread, const EventGroup& group, RunColumns& run) {
  TakeStack(thread, group.As<StackRecord>());
  shared_.DefineStack(thread.stack);
  run.Put(RunColumn::kStack, thread.stack);
}

void PythonPacker::AddCallBegin(ThreadState& /*thread*/, const EventGroup& group, RunColumns& run) {
  const auto& record = group.As<CallRecord>();
  run.Put(RunColumn::kCode, shared_.DefineName(shared_.names.FindOperator(record.code)));
  run.Put(RunColumn::kCallsAround, record.around);
}

void PythonPacker::AddCallEnd(ThreadState& /*thread*/, const EventGroup& group, RunColumns& run) {
  run.Put(RunColumn::kCallsAround, group.As<CallRecord>().around);
}

}  // namespace memoir
