#include "tracker/writer/ring_pump.h"

#include <algorithm>

#include "interpose/system/tick.h"

namespace memoir {
namespace {

constexpr std::size_t kFirstViews = 1024;
// If a group stays incomplete for this time, it is taken without its missing records. Either its thread has dropped the
// missing records, or the thread waits for a free ring extent. In the second case, the wait could be endless: perhaps
// no extent becomes free before the group is taken.
constexpr std::uint64_t kMaxIncompleteNs = 1'000'000'000;

}  // namespace

void RingPump::Scan() {
  if (views_.empty()) views_.resize(kFirstViews);
  while ((view_count_ = ring_.Scan(views_.data(), views_.size())) == views_.size()) views_.resize(views_.size() * 2);
}

std::uint64_t RingPump::CountWaitingBytes() {
  Scan();
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < view_count_; ++i) {
    bytes += views_[i].full ? kSegmentBytes : static_cast<std::uint64_t>(views_[i].end - views_[i].begin);
  }
  return bytes;
}

bool RingPump::PackUntil(std::uint64_t horizon, bool whole) {
  std::vector<std::uint32_t> ended;
  if (builder_.threads().HasManyStates()) ended = builder_.threads().FindEnded();
  Scan();
  DropEnded(ended);
  OpenSources();
  left_some_ = wrote_ = false;
  complete_until_ = horizon;
  Merge(horizon, whole);
  Cut(complete_until_);
  NoteSeen();
  return wrote_;
}

void RingPump::DropEnded(const std::vector<std::uint32_t>& ended) {
  for (const std::uint32_t thread : ended) {
    const auto end = views_.begin() + static_cast<std::ptrdiff_t>(view_count_);
    if (std::none_of(views_.begin(), end, [thread](const RingExtentView& view) { return view.thread == thread; })) {
      builder_.threads().Drop(thread);
    }
  }
}

void RingPump::OpenSources() {
  source_count_ = 0;
  for (std::size_t first = 0; first < view_count_;) {
    std::size_t end = first + 1;
    while (end < view_count_ && views_[end].thread == views_[first].thread) ++end;
    if (source_count_ == sources_.size()) sources_.push_back(std::make_unique<Source>());
    Source& source = *sources_[source_count_++];
    source.thread = &builder_.threads().State(views_[first].thread);
    source.records.Reset(&views_[first], end - first, source.thread->next_record);
    for (const StackRecord* stack : source.records.skipped_stacks()) builder_.TakeStack(*source.thread, *stack);
    first = end;
  }
}

// Reads the next group of `source`. Returns true if the group may be taken now.
bool RingPump::Load(Source* source, std::uint64_t horizon, bool whole) {
  ThreadState& thread = *source->thread;
  const ThreadRecords::PeekResult found = source->records.Peek(&source->group, whole ? kAllSeen : thread.seen_record);
  if (found == ThreadRecords::PeekResult::kNothing) return false;
  left_some_ = left_some_ || found == ThreadRecords::PeekResult::kUnclear;
  if (found == ThreadRecords::PeekResult::kUnclear) return false;
  if (found == ThreadRecords::PeekResult::kIncomplete) return LoadIncomplete(source);
  thread.incomplete_since_ns = 0;
  const EventGroup& group = source->group;
  if (group.tick <= horizon || group.first_record + group.records <= thread.seen_record) return true;
  left_some_ = true;
  return false;
}

bool RingPump::LoadIncomplete(Source* source) {
  std::uint64_t& since = source->thread->incomplete_since_ns;
  const std::uint64_t now = MonotonicNs();
  if (since == 0) since = now;
  if (now - since < kMaxIncompleteNs) {
    left_some_ = true;
    complete_until_ = std::min(complete_until_, source->group.tick);
    return false;
  }
  since = 0;
  return source->records.Peek(&source->group, kAllSeen) == ThreadRecords::PeekResult::kGroup;
}

void RingPump::Merge(std::uint64_t horizon, bool whole) {
  const auto later = [](const Source* a, const Source* b) { return a->group.tick > b->group.tick; };
  heap_.clear();
  for (std::size_t i = 0; i < source_count_; ++i) {
    if (Load(sources_[i].get(), horizon, whole)) heap_.push_back(sources_[i].get());
  }
  std::make_heap(heap_.begin(), heap_.end(), later);
  while (!heap_.empty()) {
    std::pop_heap(heap_.begin(), heap_.end(), later);
    Source* source = heap_.back();
    heap_.pop_back();
    const std::uint64_t next_tick = heap_.empty() ? ~std::uint64_t{0} : heap_.front()->group.tick;
    bool loaded;
    do {
      Take(source, horizon);
      loaded = Load(source, horizon, whole);
    } while (loaded && source->group.tick <= next_tick);
    if (!loaded) continue;
    heap_.push_back(source);
    std::push_heap(heap_.begin(), heap_.end(), later);
  }
}

void RingPump::Take(Source* source, std::uint64_t horizon) {
  if (builder_.empty()) capture_.Prepare();
  builder_.Add(*source->thread, source->group);
  source->records.Advance();
  const bool ran_out = source->group.kind == RecordKind::kOutOfMemory && at_out_of_memory_ != nullptr;
  if (builder_.bytes() < capture_.chunk_bytes() && !ran_out) return;
  Cut(std::min({horizon, source->group.tick, complete_until_}));
  if (ran_out) at_out_of_memory_();
}

// Writes a chunk, and then releases its records, never earlier (ring_pump.h).
void RingPump::Cut(std::uint64_t complete_until_tick) {
  if (!builder_.empty()) {
    capture_.Write(complete_until_tick);
    wrote_ = true;
  }
  for (std::size_t i = 0; i < source_count_; ++i) sources_[i]->records.ConsumeUpToPosition(ring_);
  ring_.ReleaseConsumed();
}

void RingPump::NoteSeen() {
  for (std::size_t i = 0; i < source_count_; ++i) {
    Source& source = *sources_[i];
    source.thread->seen_record = source.records.LastVisibleRecord();
  }
}

}  // namespace memoir
