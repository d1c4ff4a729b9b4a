#include "tools/model/replay/pattern_row_events.h"

#include "tools/model/replay/handled_event.h"

namespace memoir {

void PatternRowEvents::Show(PatternRowCursor& cursor) {
  ReplayContext& context = shared_.context;
  ThreadReplay& thread = shared_.threads.Of(context.ids().thread(cursor.event().thread));
  const Tick tick = cursor.tick();
  context.AdvanceToEvent(tick);
  if (!thread.stack().empty()) ranges_.SetDepth(thread, 0, tick);
  if (const auto stack = cursor.TakeStartStack(); stack && !cursor.is_skimmed())
    python_.BeginWithStack(thread, context.ids().stack(*stack), tick);
  ShowKind(thread, cursor);
}

void PatternRowEvents::ShowKind(ThreadReplay& thread, const PatternRowCursor& cursor) {
  switch (static_cast<HandledEvent>(cursor.event().kind)) {
#define MEMOIR_HANDLER(NAME, handler, Function, Skimmed, InPattern) \
  case HandledEvent::NAME:                                          \
    return InPattern(thread, cursor);
#include "tools/model/replay/replay_handlers.def"
  }
}

void PatternRowEvents::ShowStep(ThreadReplay& thread, const PatternRowCursor& cursor) {
  steps_.BeginStep(thread.id(), cursor.step_number(), cursor.tick());
}

void PatternRowEvents::ShowStack(ThreadReplay& thread, const PatternRowCursor& cursor) {
  if (cursor.is_skimmed()) return;
  python_.ChangeStack(thread, shared_.context.ids().stack(cursor.event().stack), cursor.tick());
}

void PatternRowEvents::ShowAllocate(ThreadReplay& thread, const PatternRowCursor& cursor) {
  const PatternEvent& event = cursor.event();
  Block block = shared_.decoder.BlockOn(thread, shared_.context.ids().device(event.device), cursor.tick());
  block.address = cursor.address();
  block.serial = cursor.serial() != 0 || event.of_host == 0 ? cursor.serial() : ++unknown_serials_;
  block.bytes = event.bytes;
  block.requested_bytes = event.requested_bytes;
  block.stream = event.stream;
  block.pool_graph = event.pool_graph;
  block.pool_user = event.pool_user;
  const bool caching = event.kind == v1::BLOCK_ALLOCATE;
  if (caching) shared_.memories.NoteFinding(block.device, thread.id(), false);
  shared_.blocks.Infer(thread, caching, block);
  shared_.blocks.Allocate(thread, block);
}

// A free of a host block in a row has no serial and ends the block that is live at its address. This is right, because
// rows are in the order of time.
void PatternRowEvents::ShowDeallocate(ThreadReplay& thread, const PatternRowCursor& cursor) {
  const PatternEvent& event = cursor.event();
  const DeviceId device = shared_.context.ids().device(event.device);
  LiveBlocks& blocks = shared_.blocks;
  if (event.of_host == 0) {
    if (const Block* block = blocks.FindClosed(device, cursor.address(), cursor.serial()))
      blocks.Close(*block, thread.id(), cursor.tick(), DeallocateCause::kRecorded, cursor.serial());
  } else if (const Block* block = blocks.Find(device, cursor.address())) {
    blocks.Close(*block, thread.id(), cursor.tick(), DeallocateCause::kRecorded, block->serial + 1);
  } else {
    ++shared_.context.report().unmatched_deallocations;
  }
}

void PatternRowEvents::ShowFreeCompleted(ThreadReplay& thread, const PatternRowCursor& cursor) {
  const PatternEvent& event = cursor.event();
  allocator_.CompleteFree(thread.id(), shared_.context.ids().device(event.device), event.address, cursor.serial(),
                          cursor.tick());
}

}  // namespace memoir
