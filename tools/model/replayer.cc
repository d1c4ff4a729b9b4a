#include "tools/model/replayer.h"

#include <algorithm>
#include <utility>

namespace memoir {
namespace {

constexpr std::size_t kMaxWaitingChunks = 8;  // then what is held back is shown, so that memory stays bounded

bool Later(const ThreadReplay* a, const ThreadReplay* b) {
  if (a->NextTick() != b->NextTick()) return a->NextTick() > b->NextTick();
  return a->id() > b->id();
}

}  // namespace

Replayer::Replayer(const std::vector<ProcessSummary>& processes, const Symbols& symbols, Visitor& visitor,
                   const ReplayOptions& options, ReplayReport* report)
    : processes_(processes),
      visitor_(visitor),
      options_(options),
      report_(report),
      look_at_tensors_(options.tensors || options.first_seen),
      symbols_(symbols),
      blocks_(report) {
  for (const ProcessSummary& process : processes) clocks_.emplace_back(process.info, process.start_ns);
  report_->processes.resize(processes.size());
  visitor_.OnStart(*this);
}

void Replayer::Take(const SourceItem& item) {
  switch (item.kind) {
    case SourceItem::Kind::kProcessBegin:
      return BeginProcess(item.process);
    case SourceItem::Kind::kChunk:
      return TakeChunks({&item.chunk, 1});
    case SourceItem::Kind::kLost: {
      Drain(kForever);
      Cut();
      resync_ = true;
      report_->lost_chunks += item.lost_chunks;
      auto event = MakeEvent<LostEvent>(process_, ThreadId(), now_);
      event.chunks = item.lost_chunks;
      return visitor_.OnLost(event);
    }
    case SourceItem::Kind::kEvicted:
      return PassEvicted();
    case SourceItem::Kind::kDamage:
      Drain(kForever);
      Cut();
      resync_ = true;
      report_->damage.push_back(item.damage);
      return;
    case SourceItem::Kind::kProcessEnd:
      return EndProcess();
  }
}

void Replayer::BeginProcess(std::size_t process) {
  process_ = ProcessId{static_cast<std::uint32_t>(process)};
  ids_.emplace(process_, &dictionary_, symbols_);
  now_ = processes_[process].first_tick;
  began_ = resync_ = after_evicted_ = passed_evicted_ = false;
  evicted_from_ = processes_[process].info.start().tick();
  known_blocks_.Begin(RepeatsSteps(processes_[process].info));
  sight_ = {};
  visitor_.OnProcessBegin(MakeEvent<ProcessEvent>(process_, ThreadId(), now_));
}

void Replayer::EndProcess() {
  Drain(kForever);
  Cut();
  CloseOtherRanges({}, now_);
  EndGap();
  report_->processes[process_.value].known_steps = known_blocks_.found();
  const std::uint64_t end = Nanoseconds(process_, now_);
  const std::uint64_t start = processes_[process_.value].start_ns;
  report_->processes[process_.value].duration_ns = end > start ? end - start : 0;
  visitor_.OnProcessEnd(MakeEvent<ProcessEvent>(process_, ThreadId(), now_));
  blocks_.Clear();
  memories_.clear();
  driver_.Clear();
  for (std::unique_ptr<ThreadReplay>& thread : threads_) thread.reset();
  torch_threads_.clear();
  last_forward_thread_ = ThreadId();
}

void Replayer::TakeChunks(absl::Span<const std::shared_ptr<Chunk>> chunks) {
  for (const std::shared_ptr<Chunk>& chunk : chunks) {
    Define(*chunk);
    AddRuns(chunk);
  }
  AddRepeats(chunks);
  const Tick complete = chunks.back()->header.complete_until_tick;
  const bool wait = complete != 0 && ++waiting_chunks_ < kMaxWaitingChunks;
  Drain(wait ? complete : kForever, wait);
  if (heap_.empty() && repeats_.empty()) waiting_chunks_ = 0;
}

void Replayer::Enqueue(ThreadReplay& thread) {
  heap_.push_back(&thread);
  std::push_heap(heap_.begin(), heap_.end(), Later);
}

void Replayer::Drain(Tick until, bool may_wait) {
  waiting_ = may_wait ? kMayWait : kNever;
  while (waiting_ != kWaits) {
    const Tick next = heap_.empty() ? kForever : heap_.front()->NextTick();
    if (!repeats_.empty() && NextRepeat() <= std::min(next, until)) {
      ShowRepeats(std::min(next, until));
      continue;
    }
    if (heap_.empty() || next > until) return;
    std::pop_heap(heap_.begin(), heap_.end(), Later);
    ThreadReplay* thread = heap_.back();
    heap_.pop_back();
    cycle_.Interrupt();
    const Tick others = std::min(until, NextRepeat());
    RunThread(*thread, heap_.empty() ? others : std::min(others, heap_.front()->NextTick()));
    if (!thread->runs.empty()) Enqueue(*thread);
  }
}

void Replayer::RunThread(ThreadReplay& thread, Tick until) {
  while (!thread.runs.empty() && thread.runs.front().tick <= until) {
    RunCursor& cursor = thread.runs.front();
    const bool is_new = cursor.started || StartRun(thread, cursor);
    if (is_new && !ShowEvents(thread, cursor, until)) return;
    thread.runs.pop_front();
  }
}

}  // namespace memoir
