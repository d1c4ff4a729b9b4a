// Visits changes of the recording level (off, memory or all), and reports the spans at a level below `all`
// (ReplayReport::Process::gaps).
#ifndef TOOLS_MODEL_REPLAY_EVENTS_RECORDING_LEVELS_H_
#define TOOLS_MODEL_REPLAY_EVENTS_RECORDING_LEVELS_H_

#include <cstdint>

#include "tools/model/replay/events/driver_events.h"
#include "tools/model/replay/events/range_events.h"
#include "tools/model/replay/state/shared_replay_state.h"

namespace memoir {

class RecordingLevels {
 public:
  RecordingLevels(SharedReplayState& shared, RangeEvents& ranges, DriverEvents& driver)
      : context_(shared.context),
        visibility_(shared.visibility),
        matching_blocks_(shared.matching_blocks),
        memories_(shared.memories),
        blocks_(shared.blocks),
        ranges_(ranges),
        driver_(driver) {}

  void ShowSwitch(ThreadReplay& thread, RunCursor& cursor);

  // Continues at the level that a keyframe shows. Call this function at the start of a replay or after evicted parts.
  void ApplyKeyframe(const v1::Keyframe& keyframe);
  // Ends an open gap, and reports the unrecorded spans of the process. Call this function once, when the process ends.
  void EndProcess();

 private:
  void NoteSwitch(const LevelChangeEvent& event);
  void BeginGap(v1::RecordingLevel level, std::uint64_t ns);
  void EndGap(std::uint64_t ns, bool ended);
  void EndOpenGap();

  ReplayContext& context_;
  OperatorVisibility& visibility_;
  MatchingBlocks& matching_blocks_;
  DeviceMemories& memories_;
  LiveBlocks& blocks_;
  RangeEvents& ranges_;
  DriverEvents& driver_;
  bool gap_open_ = false;  // the current level is below `all`
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_EVENTS_RECORDING_LEVELS_H_
