// Packs the events of a caching allocator that are not about blocks: segments, out-of-memory errors, and statistics.
// One thread.
#ifndef TRACKER_WRITER_PACK_ALLOCATOR_PACKER_H_
#define TRACKER_WRITER_PACK_ALLOCATOR_PACKER_H_

#include "tracker/writer/events/event_group.h"
#include "tracker/writer/events/run_columns.h"
#include "tracker/writer/pack/shared_pack_state.h"

namespace memoir {

class AllocatorPacker {
 public:
  explicit AllocatorPacker(SharedPackState& shared) : shared_(shared) {}

  void AddSegment(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddOutOfMemory(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddStatistics(ThreadState& thread, const EventGroup& group, RunColumns& run);

 private:
  SharedPackState& shared_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_PACK_ALLOCATOR_PACKER_H_
