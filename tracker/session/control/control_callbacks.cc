#include "tracker/session/control/control_callbacks.h"

#include "interpose/system/errno_keeper.h"
#include "tracker/session/control/recording_controls.h"

namespace memoir {
namespace {

bool OnRangeBegins(const void* range, const char* name) {
  try {
    return RecordingControls::WithCurrent([=](RecordingControls& own) { return own.BeginRange(range, name); }, false);
  } catch (...) {
    return false;
  }
}

void OnRangeEnds(const void* range, const char* name) {
  const auto end = [=](RecordingControls& own) {
    own.EndRange(range, name);
    return true;
  };
  try {
    RecordingControls::WithCurrent(end, false);
  } catch (...) {  // out of memory: the level stays until the writer's thread next calls Look
  }
}

}  // namespace

constinit const RangeWatcher kControlsWatcher{&OnRangeBegins, &OnRangeEnds};

void OnDeviation() {
  const ErrnoKeeper errno_keeper;
  const auto deviate = [](RecordingControls& own) {
    own.NoteDeviation();
    return true;
  };
  RecordingControls::WithCurrent(deviate, false);
}

void OnOutermostCall(std::uint64_t module) {
  if (InBackwardOrCompiler()) return;
  const auto begin = [=](RecordingControls& own) {
    own.NoteModuleCall(module);
    return true;
  };
  try {
    RecordingControls::WithCurrent(begin, false);
  } catch (...) {  // out of memory: the level does not change
  }
}

}  // namespace memoir
