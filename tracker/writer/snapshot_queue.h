// Requests for snapshots: from threads that wait for the snapshot, and from the functions in SnapshotHooks, for which
// no thread waits.
//
// Any thread may call Request. Only the writer calls the other functions, each time it reads the ring.
#ifndef TRACKER_WRITER_SNAPSHOT_QUEUE_H_
#define TRACKER_WRITER_SNAPSHOT_QUEUE_H_

#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tracker/writer/writer_options.h"
#include "tracker/writer/writer_wait.h"

namespace memoir {

class SnapshotQueue {
 public:
  // `write`: writes a snapshot of the writer's state. Returns "" or one line with the error.
  using Write = std::function<std::string(const RequestedSnapshot&)>;
  SnapshotQueue(SnapshotHooks hooks, Write write, WriterWait* wait)
      : hooks_(std::move(hooks)), write_(std::move(write)), wait_(*wait) {}

  // Calls `wake`, which wakes the writer. Then waits for the snapshot, and returns the result of Write. Returns an
  // error if the writer hangs, or the recording has ended.
  std::string Request(const RequestedSnapshot& wish, const std::function<void()>& wake);

  // Collects the requests that are due. Returns false if no request is due. If it returns true, pack all records that
  // were committed before this call, and then call MakeCollected, which writes the snapshots.
  bool CollectDue();
  void MakeCollected();
  // Called when the newest event in the writer's state is an out-of-memory error.
  void AtOutOfMemory();
  // Ends the queue. Later requests return an error.
  void End() noexcept;

 private:
  // A request that two threads share: the thread that made the request, which may stop waiting, and the files thread,
  // which writes the snapshot.
  struct PendingRequest {
    const RequestedSnapshot wish;
    std::string wrong;
    bool done = false;
  };
  using PendingRequests = std::vector<std::shared_ptr<PendingRequest>>;
  std::string MakeOne(const RequestedSnapshot& wish);
  void MakeDue(const RequestedSnapshot& wish);

  const SnapshotHooks hooks_;
  const Write write_;
  WriterWait& wait_;
  PendingRequests answered_next_;       // requests of waiting threads that CollectDue has collected
  std::vector<RequestedSnapshot> due_;  // requests of SnapshotHooks that CollectDue has collected

  std::mutex mutex_;  // guards the members below
  PendingRequests waiting_;
  bool ended_ = false;
};

}  // namespace memoir

#endif  // TRACKER_WRITER_SNAPSHOT_QUEUE_H_
