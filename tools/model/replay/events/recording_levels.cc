#include "tools/model/replay/events/recording_levels.h"

#include <algorithm>

namespace memoir {
namespace {

// Unknown levels of a damaged or newer capture count as LEVEL_ALL.
v1::RecordingLevel LevelOf(std::uint32_t bits) {
  return v1::RecordingLevel_IsValid(static_cast<int>(bits)) ? static_cast<v1::RecordingLevel>(bits) : v1::LEVEL_ALL;
}

}  // namespace

void RecordingLevels::ShowSwitch(ThreadReplay& thread, RunCursor& cursor) {
  const std::uint32_t levels = cursor.run.level.Next32();
  auto event = context_.MakeEvent<LevelChangeEvent>(thread.id(), cursor.tick);
  event.level = LevelOf(levels & 3);
  event.before = LevelOf(levels >> 2 & 3);
  if (event.before == v1::LEVEL_ALL) context_.Cut();
  ranges_.CloseAll({}, cursor.tick);
  if (event.before == v1::LEVEL_OFF) {
    blocks_.CloseOlder(thread.id(), cursor.tick);
    driver_.ForgetBefore(cursor.tick);
    memories_.ForgetSegments();
  }
  matching_blocks_.SwitchLevel(event.level);
  visibility_.SwitchLevel(event.level);
  NoteSwitch(event);
  context_.visitor().OnSwitch(event);
}

void RecordingLevels::ApplyKeyframe(const v1::Keyframe& keyframe) {
  EndOpenGap();
  const v1::RecordingLevel level = !keyframe.ranges_off()  ? v1::LEVEL_ALL
                                   : keyframe.memory_off() ? v1::LEVEL_OFF
                                                           : v1::LEVEL_MEMORY;
  visibility_.ContinueAt(level);
  matching_blocks_.SwitchLevel(level);
  if (level != v1::LEVEL_ALL) BeginGap(level, context_.Nanoseconds(keyframe.tick()));
}

void RecordingLevels::NoteSwitch(const LevelChangeEvent& event) {
  const std::uint64_t ns = context_.Nanoseconds(event.tick);
  EndGap(ns, true);
  if (event.level != v1::LEVEL_ALL) BeginGap(event.level, ns);
}

void RecordingLevels::BeginGap(v1::RecordingLevel level, std::uint64_t ns) {
  ReplayReport::Process& process = context_.process_report();
  gap_open_ = true;
  if (++process.gap_count <= process.kMaxGaps) process.gaps.push_back({level, ns, ns, false});
}

void RecordingLevels::EndGap(std::uint64_t ns, bool ended) {
  ReplayReport::Process& process = context_.process_report();
  if (gap_open_ && process.gap_count <= process.kMaxGaps) {
    ReplayReport::Process::Gap& gap = process.gaps.back();
    gap.end_ns = std::max(gap.begin_ns, ns);  // a later reading of the clock may have changed the time of the begin
    gap.ended = ended;
  }
  gap_open_ = false;
}

void RecordingLevels::EndOpenGap() {
  if (gap_open_) EndGap(context_.Nanoseconds(context_.now()), false);
}

void RecordingLevels::EndProcess() {
  EndOpenGap();
  // Converts the unrecorded spans from ticks to nanoseconds. A span may begin before the first event.
  ReplayReport::Process& process = context_.process_report();
  for (const v1::Unrecorded& span : context_.summary().info.unrecorded()) {
    const bool ended = span.end_tick() != 0;
    const std::uint64_t begin = context_.Nanoseconds(span.begin_tick());
    const std::uint64_t end = context_.Nanoseconds(ended ? span.end_tick() : context_.now());
    process.unrecorded.push_back({span.what(), begin, std::max(begin, end), ended, ToUtf8(span.why())});
  }
}

}  // namespace memoir
