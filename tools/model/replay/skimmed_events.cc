#include "tools/model/replay/skimmed_events.h"

namespace memoir {

void SkimmedEvents::Switch(bool skims) {
  skims_ = skims;
  if (skims) {
    context_.Cut();
    ranges_.CloseAll({}, context_.now());
  }
  // The event has no thread, because the reader and not the program changes the level.
  auto event = context_.MakeEvent<LevelChangeEvent>(ThreadId(), context_.now());
  (skims ? event.level : event.before) = v1::LEVEL_MEMORY;
  visibility_.SetSkimming(skims);
  context_.visitor().OnSwitch(event);
}

bool SkimmedEvents::SkipRangeBegin(ThreadReplay&, RunCursor& cursor) {
  cursor.run.name.Next();
  return true;
}

bool SkimmedEvents::ShowUserRange(ThreadReplay& thread, RunCursor& cursor) {
  OpenRange range;
  range.name = context_.ids().name(cursor.run.name.Next32()).id;
  range.source = RangeSource::kUser;
  range.begin = cursor.tick;
  context_.AdvanceTo(cursor.tick);
  auto begin = context_.MakeEvent<RangeBeginEvent>(thread.id(), cursor.tick);
  ranges_.Push(thread, range, begin);
  if (begin.range == nullptr) return true;
  auto end = context_.MakeEvent<RangeEndEvent>(thread.id(), cursor.tick);
  ranges_.Pop(thread, end);
  return true;
}

bool SkimmedEvents::SkipModuleHolds(ThreadReplay&, RunCursor& cursor) {
  cursor.run.module.Next();
  return true;
}

bool SkimmedEvents::SkipLaunch(ThreadReplay&, RunCursor& cursor) {
  cursor.run.device.Next();
  cursor.stream += static_cast<std::uint64_t>(DecodeZigZag(cursor.run.stream_delta.Next()));
  return true;
}

bool SkimmedEvents::SkipDeviceCall(ThreadReplay& thread, RunCursor& cursor) {
  SkipLaunch(thread, cursor);
  cursor.run.bytes.Next();
  return true;
}

bool SkimmedEvents::SkipKernelRun(ThreadReplay&, RunCursor& cursor) {
  cursor.run.device.Next();
  cursor.run.bytes.Next();
  return true;
}

}  // namespace memoir
