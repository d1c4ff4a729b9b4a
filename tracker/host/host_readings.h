// Takes host samples (sizes of the host memory of the process, its cgroup and the machine), and writes them into the
// ring.
//
// Samples are taken at the start and at the end of a recording, every ten seconds, and when the memory of the process
// or of its cgroup has changed since the last sample by more than a fiftieth and by more than 16 MiB. A call of Look
// that records no sample takes some ten microseconds. Any thread.
#ifndef TRACKER_HOST_HOST_READINGS_H_
#define TRACKER_HOST_HOST_READINGS_H_

#include <cstdint>
#include <mutex>

#include "interpose/records/ring_record.h"
#include "tracker/host/memory_group.h"
#include "tracker/host/process_memory.h"

namespace memoir {

class HostSampler {
 public:
  HostSampler();

  // Takes a sample if one is due. Called whenever the writer has read the ring.
  void Look();
  // Takes the last sample. Call it before the recording ends.
  void RecordLast();

 private:
  void Record(ReadingCause cause, std::uint64_t now_ns);
  void ReadMalloc(HostNumbers* numbers);
  ReadingCause DueCause(std::uint64_t now_ns) const;  // ReadingCause{}: no sample is due

  std::mutex mutex_;
  const MemoryGroup group_;
  std::uint64_t next_look_ns_ = 0, last_ns_ = 0;
  // In bytes: the resident memory of the process and the used memory of its cgroup in the last sample, and the largest
  // resident memory in any sample.
  std::uint64_t resident_ = 0, used_ = 0, highest_ = 0;
  // The time before which the memory of the child processes is not read again, ns. On a machine with many processes,
  // this reading takes long, so it is done less often.
  std::uint64_t next_children_ns_ = 0;
  ChildrenMemory children_;
  bool malloc_is_slow_ = false;  // reading malloc's numbers would delay the program
};

}  // namespace memoir

#endif  // TRACKER_HOST_HOST_READINGS_H_
