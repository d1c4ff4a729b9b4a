#include "tools/model/replay/events/python_events.h"

namespace memoir {

void PythonEvents::ShowStack(ThreadReplay& thread, RunCursor& cursor) {
  ChangeStack(thread, context_.ids().stack(cursor.run.stack.Next32()), cursor.tick);
}

void PythonEvents::ChangeStack(ThreadReplay& thread, StackId stack, Tick tick, bool before) {
  thread.callstack = stack;
  auto event = context_.MakeEvent<StackEvent>(thread.id(), tick);
  event.stack = stack;
  event.before = before;
  context_.visitor().OnStack(event);
}

void PythonEvents::BeginWithStack(ThreadReplay& thread, StackId stack, Tick tick) {
  if (stack != thread.callstack) ChangeStack(thread, stack, tick, true);
}

void PythonEvents::ShowCallBegin(ThreadReplay& thread, RunCursor& cursor) {
  const CodeId code = context_.ids().name(cursor.run.code.Next32()).code;
  CallEvent event = DecodeCall(thread, cursor);
  event.code = code;
  context_.visitor().OnCallBegin(event);
}

void PythonEvents::ShowCallEnd(ThreadReplay& thread, RunCursor& cursor) {
  context_.visitor().OnCallEnd(DecodeCall(thread, cursor));
}

CallEvent PythonEvents::DecodeCall(const ThreadReplay& thread, RunCursor& cursor) {
  auto event = context_.MakeEvent<CallEvent>(thread.id(), cursor.tick);
  event.around = cursor.run.calls_around.Next32();
  return event;
}

}  // namespace memoir
