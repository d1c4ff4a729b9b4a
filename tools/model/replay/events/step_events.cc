#include "tools/model/replay/events/step_events.h"

namespace memoir {

void StepEvents::ShowMark(ThreadReplay& thread, RunCursor& cursor) {
  auto event = context_.MakeEvent<MarkEvent>(thread.id(), cursor.tick);
  event.name = context_.ids().name(cursor.run.mark_name.Next32()).id;
  context_.visitor().OnMark(event);
}

void StepEvents::ShowStep(ThreadReplay& thread, RunCursor& cursor) {
  BeginStep(thread.id(), cursor.run.step.Next(), cursor.tick);
}

void StepEvents::BeginStep(ThreadId thread, std::uint64_t number, Tick tick) {
  auto event = context_.MakeEvent<StepEvent>(thread, tick);
  event.step = number;
  matching_blocks_.BeginStep(thread);
  visibility_.BeginStep(thread);
  context_.visitor().OnStep(event);
}

}  // namespace memoir
