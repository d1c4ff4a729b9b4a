#include "tracker/writer/pack/chunk_runs.h"

#include <utility>

namespace memoir {
namespace {

// Approximate bytes of the fields of a run that are not columns.
constexpr std::size_t kRunOverhead = 48;
// Bounds of the column memory that is kept for the next chunk: enough for a few busy threads.
constexpr std::size_t kSpareRuns = 16;
constexpr std::size_t kSpareBytes = 256 * 1024;

}  // namespace

RunColumns& ChunkRuns::StartRunAt(ThreadState& thread, const EventGroup& group) {
  const std::uint16_t depth = DepthBefore(group);
  if (depth != static_cast<std::uint16_t>(thread.ranges.depth())) thread.ranges.SetDepth(depth);
  thread.modules.EndRanges(thread.ranges);
  if (group.first_record > thread.next_record) {
    thread.modules.Clear();  // after a loss, the open module calls are unknown
    thread.stack = 0;
  }
  if (thread.run == nullptr) {
    running_.push_back(&thread);
    shared_.DefineThread(thread.thread);
  }
  if (spare_runs_.empty()) {
    runs_.push_back(std::make_unique<RunColumns>());
  } else {
    runs_.push_back(std::move(spare_runs_.back()));
    spare_runs_.pop_back();
  }
  thread.run = runs_.back().get();
  if (!shared_.DefineStack(thread.stack)) thread.stack = 0;
  thread.run->Start(thread.thread, group.first_record, thread.ranges.depth(), thread.stack,
                    std::exchange(thread.repeated, 0));
  bytes_ += kRunOverhead;
  return *thread.run;
}

void ChunkRuns::AddTo(std::string* payload) const {
  for (const auto& run : runs_) run->AddTo(payload);
}

void ChunkRuns::Clear() {
  for (ThreadState* thread : running_) thread->run = nullptr;
  running_.clear();
  for (auto& run : runs_) {
    if (spare_runs_.size() < kSpareRuns && run->capacity() <= kSpareBytes * 4 / (spare_runs_.size() + 1)) {
      spare_runs_.push_back(std::move(run));
    }
  }
  runs_.clear();
  bytes_ = 0;
}

}  // namespace memoir
