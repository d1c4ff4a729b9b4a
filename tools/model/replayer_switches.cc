// The part of a replay that follows how much is recorded: off, memory alone, everything.
#include <algorithm>
#include <vector>

#include "tools/model/replayer.h"

namespace memoir {
namespace {

// What a damaged or newer capture may hold beside the three counts as everything.
v1::RecordingLevel LevelOf(std::uint32_t bits) {
  return v1::RecordingLevel_IsValid(static_cast<int>(bits)) ? static_cast<v1::RecordingLevel>(bits) : v1::LEVEL_ALL;
}

// A reading of the clock since the gap began may have moved what the same tick means.
void End(ReplayReport::Process::Gap& gap, std::uint64_t ns, bool ended) {
  gap.end_ns = std::max(gap.begin_ns, ns);
  gap.ended = ended;
}

}  // namespace

void Replayer::CloseOtherRanges(const absl::flat_hash_set<ThreadId>& except, Tick tick) {
  for (const std::unique_ptr<ThreadReplay>& thread : threads_) {
    if (thread == nullptr || except.contains(thread->id())) continue;
    SetDepth(*thread, 0, tick);
    thread->modules().clear();
  }
}

void Replayer::ShowSwitch(ThreadReplay& thread, RunCursor& cursor) {
  const std::uint32_t levels = cursor.run.level.Next32();
  auto event = MakeEvent<SwitchEvent>(process_, thread.id(), cursor.tick);
  event.level = LevelOf(levels & 3);
  event.before = LevelOf(levels >> 2 & 3);
  if (event.before == v1::LEVEL_ALL) Cut();
  CloseOtherRanges({}, cursor.tick);
  if (event.before == v1::LEVEL_OFF) ForgetBefore(thread.id(), cursor.tick);
  known_blocks_.Switch(event.level);
  sight_.Switch(event.level);
  NoteSwitch(event);
  visitor_.OnSwitch(event);
}

// Blocks of other threads may be shown before the switch that they come after.
void Replayer::ForgetBefore(ThreadId by, Tick tick) {
  std::vector<const Block*> old;  // closing moves no block
  blocks_.live().ForEach([&](const Block& block) {
    if (block.tick < tick) old.push_back(&block);
  });
  std::ranges::sort(old, {}, &Block::ordinal);  // the same in every replay
  ReplayReport::Process& process = report_->processes[process_.value];
  for (const Block* block : old) {
    // Those of a caching allocator are found again: what was freed meanwhile is known to be.
    process.unknown_blocks += !IsCaching(block->device);
    process.unknown_bytes += IsCaching(block->device) ? 0 : block->bytes;
    Close(*block, by, tick, DeallocateCause::kUnknown);
  }
  driver_.ForgetBefore(tick);
  for (const std::unique_ptr<DeviceMemory>& memory : memories_) {
    if (memory != nullptr) memory->ForgetSegments();
  }
}

void Replayer::NoteSwitch(const SwitchEvent& event) {
  ReplayReport::Process& process = report_->processes[process_.value];
  const std::uint64_t ns = Nanoseconds(process_, event.tick);
  if (gap_open_ && process.gap_count <= process.kMaxGaps) End(process.gaps.back(), ns, true);
  gap_open_ = false;
  if (event.level != v1::LEVEL_ALL) BeginGap(event.level, ns);
}

void Replayer::BeginGap(v1::RecordingLevel level, std::uint64_t ns) {
  ReplayReport::Process& process = report_->processes[process_.value];
  gap_open_ = true;
  if (++process.gap_count <= process.kMaxGaps) process.gaps.push_back({level, ns, ns, false});
}

void Replayer::EndGap() {
  ReplayReport::Process& process = report_->processes[process_.value];
  if (gap_open_ && process.gap_count <= process.kMaxGaps) End(process.gaps.back(), Nanoseconds(process_, now_), false);
  gap_open_ = false;
  // Spans stand in the capture in ticks, and may begin before its first event.
  for (const v1::Unrecorded& span : processes_[process_.value].info.unrecorded()) {
    const bool ended = span.end_tick() != 0;
    const std::uint64_t begin = Nanoseconds(process_, span.begin_tick());
    const std::uint64_t end = Nanoseconds(process_, ended ? span.end_tick() : now_);
    process.unrecorded.push_back({span.what(), begin, std::max(begin, end), ended, ToUtf8(span.why())});
  }
}

using Unrecorded = ReplayReport::Process::Unrecorded;

const Unrecorded* ReplayReport::Process::UnknownCudaMemory() const {
  const auto found = std::ranges::find(unrecorded, v1::Unrecorded::CUDA_MEMORY, &Unrecorded::what);
  return found == unrecorded.end() ? nullptr : &*found;
}

const Unrecorded* ReplayReport::Process::UnknownCudaMemoryAtEnd() const {
  const auto found = std::ranges::find_if(
      unrecorded, [](const Unrecorded& span) { return span.what == v1::Unrecorded::CUDA_MEMORY && !span.ended; });
  return found == unrecorded.end() ? nullptr : &*found;
}

}  // namespace memoir
