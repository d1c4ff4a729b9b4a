// Packs the begins and ends of ranges and of module calls, and keeps each thread's open ranges and module calls up to
// date. One thread.
#ifndef TRACKER_WRITER_PACK_RANGE_PACKER_H_
#define TRACKER_WRITER_PACK_RANGE_PACKER_H_

#include "tracker/writer/pack/argument_packer.h"
#include "tracker/writer/pack/shared_pack_state.h"

namespace memoir {

class RangePacker {
 public:
  RangePacker(SharedPackState& shared, ArgumentPacker& arguments) : shared_(shared), arguments_(arguments) {}

  void AddBegin(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddEnd(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddModuleEnter(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddModuleExit(ThreadState& thread, const EventGroup& group, RunColumns& run);

 private:
  void AddModuleCall(ThreadState& thread, const EventGroup& group, RunColumns& run, bool begins);

  SharedPackState& shared_;
  ArgumentPacker& arguments_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_PACK_RANGE_PACKER_H_
