// Packs Python stacks, and calls of Python functions. One thread.
#ifndef TRACKER_WRITER_PACK_PYTHON_PACKER_H_
#define TRACKER_WRITER_PACK_PYTHON_PACKER_H_

#include "tracker/writer/events/event_group.h"
#include "tracker/writer/events/run_columns.h"
#include "tracker/writer/pack/shared_pack_state.h"

namespace memoir {

class PythonPacker {
 public:
  explicit PythonPacker(SharedPackState& shared) : shared_(shared) {}

  void AddStack(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddCallBegin(ThreadState& thread, const EventGroup& group, RunColumns& run);
  void AddCallEnd(ThreadState& thread, const EventGroup& group, RunColumns& run);

  // Sets the thread's Python stack from `record`.
  void TakeStack(ThreadState& thread, const StackRecord& record);

 private:
  SharedPackState& shared_;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_PACK_PYTHON_PACKER_H_
