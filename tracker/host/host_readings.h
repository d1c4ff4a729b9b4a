// When the host's memory is read, and the records of it in the ring.
//
// At the start and the end, when the process or its cgroup has grown or shrunk by a fiftieth, and every ten seconds.
// A look that finds nothing to record costs some ten microseconds. Any thread.
#ifndef TRACKER_HOST_HOST_READINGS_H_
#define TRACKER_HOST_HOST_READINGS_H_

#include <cstdint>
#include <mutex>

#include "interpose/ring_record.h"
#include "tracker/host/memory_group.h"
#include "tracker/host/process_memory.h"

namespace memoir {

class HostReadings {
 public:
  HostReadings();

  // With each look of the recording.
  void Look();
  // Before the recording ends.
  void Last();

 private:
  void Record(ReadingCause cause, std::uint64_t now_ns);
  void ReadMalloc(HostNumbers* numbers);
  ReadingCause Due(std::uint64_t now_ns) const;  // ReadingCause{}: nothing is

  std::mutex mutex_;
  const MemoryGroup group_;
  std::uint64_t next_look_ns_ = 0, last_ns_ = 0;
  std::uint64_t resident_ = 0, used_ = 0, highest_ = 0;  // as recorded last
  // Where there are many processes this takes long: then it is read less often.
  std::uint64_t next_children_ns_ = 0;
  ChildrenMemory children_;
  bool malloc_is_slow_ = false;  // the program would wait for it
};

}  // namespace memoir

#endif  // TRACKER_HOST_HOST_READINGS_H_
