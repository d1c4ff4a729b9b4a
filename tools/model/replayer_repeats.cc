// The part of a replay that shows events of steps that a chunk names instead of saying them again (repeat_cursor.h), or
// passes over them.
#include <algorithm>
#include <utility>

#include "tools/model/replayer.h"

namespace memoir {

// Where frees were lost, another block at the same address tells so: then chunks have to show theirs.
void Replayer::AddRepeats(absl::Span<const std::shared_ptr<Chunk>> chunks) {
  const bool joins = !resync_ && report_->lost_records == 0;
  JoinedRows joined;
  for (const std::shared_ptr<Chunk>& chunk : chunks) {
    for (const std::shared_ptr<const Stretch>& stretch : chunk->payload->stretches) stretches_.Define(stretch);
    if (chunk->payload->repeats.rows.empty()) continue;
    if ((joined.chunks().empty() || joins) && joined.Add(chunk, stretches_)) continue;
    AddJoined(std::exchange(joined, JoinedRows()));
    joined.Add(chunk, stretches_);
  }
  AddJoined(std::move(joined));
}

void Replayer::AddJoined(JoinedRows joined) {
  if (joined.chunks().empty()) return;
  repeats_.emplace_back(std::move(joined), visitor_.takes_repeats());
  if (!repeats_.back().done()) return;
  SayRepeatsDamage(repeats_.back());
  repeats_.pop_back();
}

void Replayer::SayRepeatsDamage(const RepeatCursor& cursor) {
  const Chunk* const damaged = cursor.damaged();
  if (damaged == nullptr) return;
  report_->damage.push_back(
      {*damaged->file, damaged->header.offset, "repeats of a chunk do not match their stretches"});
}

void Replayer::ShowRepeats(Tick until) {
  while (!repeats_.empty() && repeats_.front().tick() <= until) {
    RepeatCursor& cursor = repeats_.front();
    if (cursor.at_skip()) {
      PassOrOpen(cursor, until);
    } else {
      const bool is_known = cursor.in_skip() && (cycle_.known() || cursor.skip().End(0) > until);
      if (cursor.at_cycle() && !is_known && cycle_.Begin(CountsNow()))
        visitor_.OnCycleBegin(MakeEvent<CycleEvent>(process_, ThreadId(), cursor.tick()));
      ShowRepeated(cursor);
      cursor.Advance();
    }
    if (!cursor.done()) continue;
    SayRepeatsDamage(cursor);
    repeats_.pop_front();
  }
}

// Cycles that end by then, and that the visitor can do without; else the next one is shown.
void Replayer::PassOrOpen(RepeatCursor& cursor, Tick until) {
  const SkipWalk& skip = cursor.skip();
  if (cycle_.open()) {
    auto end = MakeEvent<CycleEvent>(process_, ThreadId(), now_);
    end.ticks = skip.TicksBefore();
    visitor_.OnCycleEnd(end);
    cycle_.End(CountsNow());
  }
  std::size_t cycles = 0;
  for (std::size_t most = skip.cycles_left(); cycles < most;) {
    const std::size_t middle = cycles + (most - cycles + 1) / 2;
    skip.End(middle - 1) <= until ? cycles = middle : most = middle - 1;
  }
  if (!cycle_.known() || cycles == 0) return cursor.OpenCycle();
  const auto event_of = [&](std::size_t times) {
    auto event = MakeEvent<RepeatedEvent>(process_, ThreadId(), skip.End(times - 1));
    event.times = times;
    event.steps = times * skip.period();
    event.first_step = skip.FirstRow(0).step_number;
    event.last_step = skip.LastNumber(times - 1);
    event.begin = skip.FirstRow(0).first_tick;
    return event;
  };
  std::uint64_t most = cycles;
  for (std::uint64_t asked = 0; most != 0 && most != asked;) {
    asked = most;
    most = std::min(asked, visitor_.MostRepeats(event_of(static_cast<std::size_t>(asked))));
  }
  if (most == 0) {
    cycle_.Forget();
    return cursor.OpenCycle();
  }
  auto event = event_of(static_cast<std::size_t>(most));
  PassOver(cursor, event);
}

RepeatCounts Replayer::CountsNow() const {
  return {allocations_, report_->unmatched_deallocations, report_->replaced_blocks, report_->late_events,
          known_blocks_.found()};
}

void Replayer::PassOver(RepeatCursor& cursor, RepeatedEvent& event) {
  now_ = std::max(now_, event.tick);
  const RepeatCounts& change = cycle_.change();
  allocations_ += event.times * change.allocations;
  report_->unmatched_deallocations += event.times * change.unmatched_deallocations;
  report_->replaced_blocks += event.times * change.replaced_blocks;
  report_->late_events += event.times * change.late_events;
  known_blocks_.PassOver(change.known_steps, event.times);
  const std::vector<const Block*> moved = MoveBlocks(cursor, event.tick - cursor.skip().EndBefore());
  event.moved = moved;
  event.ticks = cursor.skip().Ticks(static_cast<std::size_t>(event.times));
  cursor.Pass(static_cast<std::size_t>(event.times));
  visitor_.OnRepeated(event);
}

// Blocks of the cycle that live stand for those of the last one that is not shown.
std::vector<const Block*> Replayer::MoveBlocks(const RepeatCursor& cursor, Tick ticks) {
  std::vector<const Block*> blocks;
  const auto move = [&](std::uint32_t device, std::uint64_t address) {
    Block* const block = blocks_.live().Find(ids_->device(device), address);
    if (block == nullptr) return;
    block->tick += ticks;
    blocks.push_back(block);
  };
  for (const SkipWalk::Shown& host : cursor.skip().Living()) move(host.device, host.shown);
  absl::flat_hash_set<std::pair<std::uint32_t, std::uint64_t>> moved;
  for (std::size_t step = 0; step < cursor.skip().period(); ++step) {
    for (const StretchEvent& event : cursor.skip().StretchOf(step).events) {
      const bool first = event.kind == v1::BLOCK_ALLOCATE && moved.emplace(event.device, event.address).second;
      if (first) move(event.device, event.address);
    }
  }
  return blocks;
}

void Replayer::ShowRepeated(RepeatCursor& cursor) {
  const StretchEvent& event = cursor.event();
  ThreadReplay& thread = ThreadOf(ids_->thread(event.thread));
  const Tick tick = cursor.tick();
  if (tick < now_) ++report_->late_events;
  now_ = std::max(now_, tick);
  if (!thread.stack().empty()) SetDepth(thread, 0, tick);
  const bool skims = cursor.memory_alone();
  if (const auto stack = cursor.TakeStartStack(); stack && !skims) ShowStack(thread, ids_->stack(*stack), tick, true);
  switch (event.kind) {
    case v1::STEP: {
      auto step = MakeEvent<StepEvent>(process_, thread.id(), tick);
      step.step = cursor.step_number();
      known_blocks_.StepBegins(thread.id());
      sight_.StepBegins(thread.id());
      visitor_.OnStep(step);
      return;
    }
    case v1::STACK:
      if (!skims) ShowStack(thread, ids_->stack(event.stack), tick, false);
      return;
    case v1::ALLOCATE:
    case v1::BLOCK_ALLOCATE:
      return ShowRepeatedBlock(thread, cursor);
    case v1::DEALLOCATE:
      return ShowRepeatedFree(thread, cursor);
    default:
      return ShowFreeCompleted(thread, ids_->device(event.device), event.address, cursor.serial(), tick);
  }
}

void Replayer::ShowRepeatedBlock(ThreadReplay& thread, const RepeatCursor& cursor) {
  const StretchEvent& event = cursor.event();
  Block block = BlockOn(thread, ids_->device(event.device), cursor.tick());
  block.address = cursor.address();
  block.serial = cursor.serial() != 0 || event.of_host == 0 ? cursor.serial() : ++unknown_serials_;
  block.bytes = event.bytes;
  block.requested_bytes = event.requested_bytes;
  block.stream = event.stream;
  block.pool_graph = event.pool_graph;
  block.pool_user = event.pool_user;
  const bool caching = event.kind == v1::BLOCK_ALLOCATE;
  if (caching) NoteFinding(MemoryOf(block.device), thread.id(), false);
  FollowKnown(thread, caching, block);
  ShowBlock(thread, block, blocks_.Judge(block.device, block.address, block.serial));
}

// Of the host's blocks no serial is known, for rows are in order.
void Replayer::ShowRepeatedFree(ThreadReplay& thread, const RepeatCursor& cursor) {
  const StretchEvent& event = cursor.event();
  const DeviceId device = ids_->device(event.device);
  if (event.of_host == 0) {
    if (const Block* block = blocks_.FindClosed(device, cursor.address(), cursor.serial()))
      Close(*block, thread.id(), cursor.tick(), DeallocateCause::kRecorded, cursor.serial());
  } else if (const Block* block = blocks_.live().Find(device, cursor.address())) {
    Close(*block, thread.id(), cursor.tick(), DeallocateCause::kRecorded, block->serial + 1);
  } else {
    ++report_->unmatched_deallocations;
  }
}

}  // namespace memoir
