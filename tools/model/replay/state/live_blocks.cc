#include "tools/model/replay/state/live_blocks.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace memoir {

void LiveBlocks::Infer(const ThreadReplay& thread, bool caching, Block& block) {
  block.unseen = !block.operator_name.valid() && !visibility_.IsVisible(thread.id());
  matching_blocks_.VisitBlock(allocations_, caching, block);
  block.unseen = block.unseen && !block.inferred();
}

void LiveBlocks::Allocate(const ThreadReplay& thread, Block& block, bool before) {
  const SerialMatcher::AllocationEffect effect = matcher_.CheckAllocation(block.device, block.address, block.serial);
  if (effect.replaced != nullptr) Close(*effect.replaced, thread.id(), block.tick, effect.cause);
  if (effect.closed_at_once) return VisitClosed(thread, block, effect.cause);
  Open(block, &threads_.Working(thread).stack(), block.tick, before);
}

// Visits the allocation and the end of a block that has ended already: its end, or a later allocation at its address,
// was visited earlier. Another block may live at the address now and must stay, so this block has no slot.
void LiveBlocks::VisitClosed(const ThreadReplay& thread, Block& block, DeallocateCause cause) {
  block.ordinal = allocations_++;
  block.slot = Block::kNoSlot;
  auto begin = context_.MakeEvent<AllocateEvent>(thread.id(), block.tick);
  begin.block = &block;
  begin.stack = &threads_.Working(thread).stack();
  begin.base = surrounding_.BaseOf(thread);
  context_.visitor().OnAllocate(begin);
  auto end = context_.MakeEvent<DeallocateEvent>(thread.id(), block.tick);
  end.block = &block;
  end.cause = cause;
  end.temporary = block.operator_call != 0;
  context_.visitor().OnDeallocate(end);
}

void LiveBlocks::Open(const Block& block, const RangeStack* stack, Tick tick, bool before) {
  LiveSet& live = matcher_.live_set();
  if (live.size() >= LiveSet::kMaxBlocks) {
    if (!std::exchange(reported_full_, true)) context_.ReportDamage("more live blocks than can be followed");
    return;
  }
  Block& added = live.Add(block);
  added.ordinal = allocations_++;
  if (memories_.IsCaching(added.device)) memories_.Of(added.device).Allocate(added.bytes, added.requested_bytes);
  auto event = context_.MakeEvent<AllocateEvent>(added.thread, tick);
  event.block = &added;
  event.stack = stack;
  if (stack != nullptr) event.base = surrounding_.BaseOf(threads_.Of(added.thread));
  event.before = before;
  context_.visitor().OnAllocate(event);
}

void LiveBlocks::Close(const Block& block, ThreadId by, Tick tick, DeallocateCause cause, std::uint64_t serial) {
  if (memories_.IsCaching(block.device)) {
    DeviceMemory& memory = memories_.Of(block.device);
    if (cause == DeallocateCause::kRecorded) {
      memory.RequestFree(block.address, block.bytes, block.requested_bytes, serial);
    } else {
      memory.ForgetBlock(block.bytes, block.requested_bytes);
    }
  }
  auto event = context_.MakeEvent<DeallocateEvent>(by, tick);
  event.cause = cause;
  const bool runs =
      block.operator_call != 0 && threads_.Working(threads_.Of(block.thread)).operator_call() == block.operator_call;
  event.temporary = matching_blocks_.EndBlock(block, runs);
  event.block = &block;
  context_.visitor().OnDeallocate(event);
  matcher_.live_set().Remove(block);
}

// Compares ticks, because blocks of other threads that were allocated after a switch of the recording level may have
// been visited before it.
void LiveBlocks::CloseOlder(ThreadId by, Tick tick) {
  std::vector<const Block*> old;
  set().ForEach([&](const Block& block) {
    if (block.tick < tick) old.push_back(&block);
  });
  std::ranges::sort(old, {}, &Block::ordinal);  // the same order in every replay
  ReplayReport::Process& process = context_.process_report();
  for (const Block* block : old) {
    // For a caching allocator, BLOCK_FOUND events after the gap list the blocks that are still live, so it is known
    // which blocks were freed.
    const bool is_caching = memories_.IsCaching(block->device);
    process.unknown_blocks += !is_caching;
    process.unknown_bytes += is_caching ? 0 : block->bytes;
    Close(*block, by, tick, DeallocateCause::kUnknown);
  }
}

const Block* LiveBlocks::Move(DeviceId device, std::uint64_t address, Tick ticks) {
  Block* const block = matcher_.live_set().Find(device, address);
  if (block != nullptr) block->tick += ticks;
  return block;
}

}  // namespace memoir
