// Packs steps, marks, and the switches between recording levels. Owns the current recording level. One thread.
#ifndef TRACKER_WRITER_PACK_STEP_PACKER_H_
#define TRACKER_WRITER_PACK_STEP_PACKER_H_

#include "tracker/writer/pack/driver_packer.h"
#include "tracker/writer/pack/shared_pack_state.h"

namespace memoir {

class StepPacker {
 public:
  StepPacker(SharedPackState& shared, DriverPacker& driver) : shared_(shared), driver_(driver) {}

  void AddStep(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddMark(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddSwitch(ThreadState& thread, const EventGroup& group, RunColumns& run);

  RecordingLevel level() const { return level_; }

 private:
  SharedPackState& shared_;
  DriverPacker& driver_;
  RecordingLevel level_ = RecordingLevel::kAll;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_PACK_STEP_PACKER_H_
