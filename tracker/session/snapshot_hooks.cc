#include "tracker/session/snapshot_hooks.h"

#include <optional>
#include <string>
#include <vector>

#include "tracker/session/control/recording_controls.h"

namespace memoir {

SnapshotHooks HooksOf(const std::shared_ptr<RecordingSnapshots>& snapshots) {
  SnapshotHooks hooks;
  hooks.due = [snapshots] {
    std::vector<RequestedSnapshot> due;
    const auto take = [&](RecordingControls& controls) {
      if (const std::optional<const char*> asked = controls.TakeSnapshotRequest())
        due.push_back(snapshots->PlanNext(*asked));
      return true;
    };
    RecordingControls::WithCurrent(take, false);
    return due;
  };
  hooks.at_out_of_memory = [snapshots] { return snapshots->PlanAtOutOfMemory(); };
  hooks.made = [snapshots](const RequestedSnapshot& wish, const std::string& wrong) { snapshots->Print(wish, wrong); };
  return hooks;
}

}  // namespace memoir
