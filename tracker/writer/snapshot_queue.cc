#include "tracker/writer/snapshot_queue.h"

#include <new>
#include <optional>
#include <utility>

namespace memoir {
namespace {

constexpr char kEnded[] = "the recording has ended";
constexpr char kStuck[] =
    "nothing could be written for too long; look at the file system of the capture and of the snapshot";

}  // namespace

std::string SnapshotQueue::Request(const RequestedSnapshot& wish, const std::function<void()>& wake) {
  const auto mine = std::make_shared<PendingRequest>(PendingRequest{wish, "", false});
  std::unique_lock<std::mutex> lock(mutex_);
  if (ended_) return kEnded;
  waiting_.push_back(mine);
  wake();
  const bool answers = wait_.WaitUntil(lock, [&] { return mine->done || ended_; });
  return mine->done ? mine->wrong : answers ? kEnded : kStuck;
}

bool SnapshotQueue::CollectDue() {
  try {
    if (hooks_.due) due_ = hooks_.due();
  } catch (const std::bad_alloc&) {  // no memory: the request is lost
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  answered_next_ = std::exchange(waiting_, {});
  return !answered_next_.empty() || !due_.empty();
}

void SnapshotQueue::MakeDue(const RequestedSnapshot& wish) {
  const std::string wrong = MakeOne(wish);
  try {
    hooks_.made(wish, wrong);
  } catch (const std::bad_alloc&) {  // no memory: the result is not reported
  }
}

// Writes one snapshot. If there is no memory for it, the recording continues without it.
std::string SnapshotQueue::MakeOne(const RequestedSnapshot& wish) {
  try {
    return write_(wish);
  } catch (const std::bad_alloc&) {
    return "no memory for a snapshot";
  }
}

void SnapshotQueue::MakeCollected() {
  for (const RequestedSnapshot& wish : std::exchange(due_, {})) MakeDue(wish);
  for (const std::shared_ptr<PendingRequest>& waiting : std::exchange(answered_next_, {})) {
    std::string wrong = MakeOne(waiting->wish);
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting->wrong = std::move(wrong);
    waiting->done = true;
    wait_.NoteProgress();
  }
}

void SnapshotQueue::AtOutOfMemory() {
  if (!hooks_.at_out_of_memory) return;
  try {
    if (const std::optional<RequestedSnapshot> wish = hooks_.at_out_of_memory()) MakeDue(*wish);
  } catch (const std::bad_alloc&) {  // no memory: this snapshot is left out
  }
}

void SnapshotQueue::End() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  ended_ = true;
  wait_.NoteProgress();
}

}  // namespace memoir
