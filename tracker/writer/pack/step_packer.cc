#include "tracker/writer/pack/step_packer.h"

namespace memoir {

void StepPacker::AddStep(ThreadState& /*thread*/, const EventGroup& group, RunColumns& run) {
  run.Put(RunColumn::kStep, group.As<StepRecord>().step);
}

void StepPacker::AddMark(ThreadState& /*thread*/, const EventGroup& group, RunColumns& run) {
  run.Put(RunColumn::kMarkName, shared_.DefineName(shared_.names.FindText(group.text)));
}

// The readers in tools/model change their state in the same way, because their state must agree with keyframes.
void StepPacker::AddSwitch(ThreadState& /*thread*/, const EventGroup& group, RunColumns& run) {
  const std::uint8_t levels = group.header->flags;
  run.Put(RunColumn::kLevel, levels);
  level_ = LevelAfter(levels);
  shared_.threads.CloseRanges();
  if (LevelBefore(levels) != RecordingLevel::kOff) return;
  shared_.memory.ForgetBefore(group.tick);
  driver_.ForgetBefore(group.tick);
}

}  // namespace memoir
