#include "tools/model/replay/state/replay_threads.h"

namespace memoir {

ThreadReplay& ReplayThreads::Add(ThreadId id) {
  if (id.value >= threads_.size()) threads_.resize(id.value + 1);
  threads_[id.value] = std::make_unique<ThreadReplay>(id);
  return *threads_[id.value];
}

void ReplayThreads::Clear() {
  for (std::unique_ptr<ThreadReplay>& thread : threads_) thread.reset();
  torch_threads_.clear();
}

// Follows nested parallel regions outward, to the thread of the outermost region. Returns `thread` itself if it works
// in no region of another thread, or if the thread of the outermost region has no open range.
// NOLINTBEGIN(bugprone-return-const-ref-from-parameter): the parameter belongs to this object, and is no temporary
const ThreadReplay& ReplayThreads::FindWorking(const ThreadReplay& thread) const {
  constexpr int kMostRegions = 4;
  const ThreadReplay* working = &thread;
  for (int i = 0; i < kMostRegions; ++i) {
    const ThreadReplay* owner = Find(dictionary_.thread(working->id()).works_for);
    if (owner == nullptr) break;
    working = owner;
  }
  return working->stack().empty() ? thread : *working;
}
// NOLINTEND(bugprone-return-const-ref-from-parameter)

ThreadReplay* ReplayThreads::FindTorchThread(std::uint64_t torch_id) {
  if (torch_id == 0) return nullptr;
  auto found = torch_threads_.find(torch_id);
  if (found == torch_threads_.end()) {
    ForEach(
        [&](const ThreadReplay& thread) { torch_threads_[dictionary_.thread(thread.id()).torch_id] = thread.id(); });
    // Stores an invalid id for an unknown thread, so that later nodes do not search again.
    found = torch_threads_.try_emplace(torch_id, ThreadId()).first;
  }
  return found->second.valid() ? &Of(found->second) : nullptr;
}

}  // namespace memoir
