// The threads of the current process in a replay, and the threads for which they work (docs/event_schema.md, "Threads
// that work for others").
#ifndef TOOLS_MODEL_REPLAY_STATE_REPLAY_THREADS_H_
#define TOOLS_MODEL_REPLAY_STATE_REPLAY_THREADS_H_

#include <cstdint>
#include <memory>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "tools/model/event/dictionary.h"
#include "tools/model/replay/state/thread_replay.h"

namespace memoir {

class ReplayThreads {
 public:
  explicit ReplayThreads(const Dictionary& dictionary) : dictionary_(dictionary) {}

  // Returns the thread. Adds it if it is new.
  ThreadReplay& Of(ThreadId id) {
    ThreadReplay* const known = id.value < threads_.size() ? threads_[id.value].get() : nullptr;
    return known != nullptr ? *known : Add(id);
  }
  // Returns nullptr if the thread is unknown, or belongs to an earlier process.
  const ThreadReplay* Find(ThreadId id) const {
    return id.valid() && id.value < threads_.size() ? threads_[id.value].get() : nullptr;
  }
  // Returns the thread with torch's number `torch_id`. nullptr if it is unknown.
  ThreadReplay* FindTorchThread(std::uint64_t torch_id);
  // Returns the thread whose ranges apply: `thread`, or the thread in whose parallel region it works.
  const ThreadReplay& Working(const ThreadReplay& thread) const {
    // NOLINTNEXTLINE(bugprone-return-const-ref-from-parameter): threads are never temporary
    return work_for_others_ ? FindWorking(thread) : thread;
  }
  template <class Function>
  void ForEach(const Function& function) {
    for (const std::unique_ptr<ThreadReplay>& thread : threads_) {
      if (thread != nullptr) function(*thread);
    }
  }

  // Call this function after the definitions of a chunk were added to the dictionary.
  void NoteDefinitions() { work_for_others_ = dictionary_.threads_work_for_others(); }
  // Called when the process ends.
  void Clear();
  // Call this function for each chunk, because the chunk may define torch ids of threads.
  void ForgetTorchIds() { torch_threads_.clear(); }

 private:
  ThreadReplay& Add(ThreadId id);
  const ThreadReplay& FindWorking(const ThreadReplay& thread) const;

  const Dictionary& dictionary_;
  bool work_for_others_ = false;                        // a copy of Dictionary::threads_work_for_others, for speed
  std::vector<std::unique_ptr<ThreadReplay>> threads_;  // by ThreadId; nullptr for threads of earlier processes
  absl::flat_hash_map<std::uint64_t, ThreadId> torch_threads_;  // by torch_id
};

}  // namespace memoir

#endif  // TOOLS_MODEL_REPLAY_STATE_REPLAY_THREADS_H_
