// The runs of one chunk. A thread usually has one run; after a loss of records, another run begins. One thread.
#ifndef TRACKER_WRITER_PACK_CHUNK_RUNS_H_
#define TRACKER_WRITER_PACK_CHUNK_RUNS_H_

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tracker/writer/events/event_group.h"
#include "tracker/writer/events/run_columns.h"
#include "tracker/writer/pack/shared_pack_state.h"

namespace memoir {

class ChunkRuns {
 public:
  explicit ChunkRuns(SharedPackState& shared) : shared_(shared) {}

  // Returns the event's run. A new run begins if the thread has no run in this chunk, if records since the end of its
  // run were lost or are in pattern rows, or if the begin or the end of a range was not seen.
  RunColumns& RunFor(ThreadState& thread, const EventGroup& group) {
    if (thread.run != nullptr && DepthBefore(group) == static_cast<std::uint16_t>(thread.ranges.depth()) &&
        thread.run->next_record() == group.first_record) [[likely]]
      return *thread.run;
    return StartRunAt(thread, group);
  }
  // Call it after an event was added to its run. `bytes`: the number of bytes by which the run has grown.
  void CountBytes(std::size_t bytes) { bytes_ += bytes; }

  bool empty() const { return runs_.empty(); }
  std::size_t bytes() const { return bytes_; }
  void AddTo(std::string* payload) const;
  void Clear();

 private:
  // Returns the number of ranges that were open before the event, modulo 2^16, as the ring counts them.
  static std::uint16_t DepthBefore(const EventGroup& group) {
    return static_cast<std::uint16_t>(group.header->depth + (group.kind == RecordKind::kRangeEnd ? 1 : 0));
  }
  RunColumns& StartRunAt(ThreadState& thread, const EventGroup& group);

  SharedPackState& shared_;
  std::vector<std::unique_ptr<RunColumns>> runs_;
  std::vector<ThreadState*> running_;  // threads that have a run in this chunk
  std::vector<std::unique_ptr<RunColumns>> spare_runs_;
  std::size_t bytes_ = 0;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_PACK_CHUNK_RUNS_H_
