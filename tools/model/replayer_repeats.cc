// The part of a replay that shows events of steps that a chunk names instead of saying them again (repeats.h).
#include <algorithm>
#include <utility>

#include "tools/model/replayer.h"

namespace memoir {

void Replayer::AddRepeats(const std::shared_ptr<Chunk>& chunk) {
  for (const std::shared_ptr<const Stretch>& stretch : chunk->payload->stretches) stretches_.Define(stretch);
  if (chunk->payload->repeats.rows.empty()) return;
  repeats_.emplace_back(chunk, stretches_);
  if (repeats_.back().damaged()) SayDamage("repeats of a chunk do not match their stretches");
  if (repeats_.back().done()) repeats_.pop_back();
}

void Replayer::ShowRepeats(Tick until) {
  while (!repeats_.empty() && repeats_.front().tick() <= until) {
    RepeatCursor& cursor = repeats_.front();
    ShowRepeated(cursor);
    cursor.Advance();
    if (cursor.done()) repeats_.pop_front();
  }
}

void Replayer::ShowRepeated(RepeatCursor& cursor) {
  const StretchEvent& event = cursor.event();
  ThreadReplay& thread = ThreadOf(ids_->thread(event.thread));
  const Tick tick = cursor.tick();
  if (tick < now_) ++report_->late_events;
  now_ = std::max(now_, tick);
  if (!thread.stack().empty()) SetDepth(thread, 0, tick);
  const bool skims = cursor.chunk().memory_alone;
  if (const auto stack = cursor.TakeStartStack(); stack && !skims) ShowStack(thread, ids_->stack(*stack), tick, true);
  switch (event.kind) {
    case v1::STEP: {
      auto step = MakeEvent<StepEvent>(process_, thread.id(), tick);
      step.step = cursor.step_number();
      known_blocks_.StepBegins(thread.id());
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
  known_blocks_.Follow(allocations_, caching, block);
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
