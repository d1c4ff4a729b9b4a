#include "tracker/writer/snapshot_queue.h"

#include <new>
#include <optional>
#include <utility>

namespace memoir {
namespace {

constexpr char kEnded[] = "the recording has ended";

}  // namespace

std::string SnapshotQueue::Ask(const SnapshotWish& wish, const std::function<void()>& wake) {
  Waiting mine{wish, "", false};
  std::unique_lock<std::mutex> lock(mutex_);
  if (ended_) return kEnded;
  waiting_.push_back(&mine);
  wake();
  changed_.wait(lock, [&] { return mine.done || ended_; });
  return mine.done ? mine.wrong : kEnded;
}

bool SnapshotQueue::Collect() {
  try {
    if (hooks_.due) due_ = hooks_.due();
  } catch (const std::bad_alloc&) {  // with the next look
  }
  const std::lock_guard<std::mutex> lock(mutex_);
  answered_next_ = std::exchange(waiting_, {});
  return !answered_next_.empty() || !due_.empty();
}

void SnapshotQueue::MakeDue(const SnapshotWish& wish) {
  const std::string wrong = MakeOne(wish);
  try {
    hooks_.made(wish, wrong);
  } catch (const std::bad_alloc&) {  // nobody is told
  }
}

// Without memory for one the recording goes on all the same.
std::string SnapshotQueue::MakeOne(const SnapshotWish& wish) {
  try {
    return write_(wish);
  } catch (const std::bad_alloc&) {
    return "no memory for a snapshot";
  }
}

void SnapshotQueue::Make() {
  for (const SnapshotWish& wish : std::exchange(due_, {})) MakeDue(wish);
  for (Waiting* waiting : std::exchange(answered_next_, {})) {
    std::string wrong = MakeOne(waiting->wish);
    const std::lock_guard<std::mutex> lock(mutex_);
    waiting->wrong = std::move(wrong);
    waiting->done = true;
    changed_.notify_all();
  }
}

void SnapshotQueue::AtOutOfMemory() {
  if (!hooks_.at_out_of_memory) return;
  try {
    if (const std::optional<SnapshotWish> wish = hooks_.at_out_of_memory()) MakeDue(*wish);
  } catch (const std::bad_alloc&) {  // that one is left out
  }
}

void SnapshotQueue::End() noexcept {
  const std::lock_guard<std::mutex> lock(mutex_);
  ended_ = true;
  changed_.notify_all();
}

}  // namespace memoir
