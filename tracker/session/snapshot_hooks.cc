#include "tracker/session/snapshot_hooks.h"

#include <optional>
#include <string>
#include <vector>

#include "tracker/session/recording_controls.h"

namespace memoir {

SnapshotHooks HooksOf(const std::shared_ptr<Snapshots>& snapshots) {
  SnapshotHooks hooks;
  hooks.due = [snapshots] {
    std::vector<SnapshotWish> due;
    const auto take = [&](RecordingControls& controls) {
      if (const std::optional<const char*> asked = controls.TakeSnapshotAsked()) due.push_back(snapshots->Next(*asked));
      return true;
    };
    RecordingControls::WithCurrent(take, false);
    return due;
  };
  hooks.at_out_of_memory = [snapshots] { return snapshots->AtOutOfMemory(); };
  hooks.made = [snapshots](const SnapshotWish& wish, const std::string& wrong) { snapshots->Say(wish, wrong); };
  return hooks;
}

}  // namespace memoir
