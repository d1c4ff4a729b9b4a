// Who wants snapshots: threads that wait for theirs, and what the recording itself is to make one of.
//
// Ask may be called by any thread; all else is the writer's thread, which looks with each of its looks at the ring.
#ifndef TRACKER_WRITER_SNAPSHOT_QUEUE_H_
#define TRACKER_WRITER_SNAPSHOT_QUEUE_H_

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include "tracker/writer/writer_options.h"

namespace memoir {

class SnapshotQueue {
 public:
  // `write`: the state as the writer has it, "" or one line that says what is wrong.
  using Write = std::function<std::string(const SnapshotWish&)>;
  SnapshotQueue(SnapshotHooks hooks, Write write) : hooks_(std::move(hooks)), write_(std::move(write)) {}

  // Wakes the writer and waits for its answer: as of Write.
  std::string Ask(const SnapshotWish& wish, const std::function<void()>& wake);

  // Who waits and what is due by now; false: nobody and nothing. Everything that was committed before this is to be in
  // the snapshots that Make makes.
  bool Collect();
  void Make();
  // The newest event that the writer's state has is an out-of-memory error.
  void AtOutOfMemory();
  // Nobody is answered any more.
  void End() noexcept;

 private:
  struct Waiting {
    const SnapshotWish& wish;
    std::string wrong;
    bool done = false;
  };
  std::string MakeOne(const SnapshotWish& wish);
  void MakeDue(const SnapshotWish& wish);

  const SnapshotHooks hooks_;
  const Write write_;
  std::vector<Waiting*> answered_next_;
  std::vector<SnapshotWish> due_;

  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::vector<Waiting*> waiting_;
  bool ended_ = false;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_SNAPSHOT_QUEUE_H_
