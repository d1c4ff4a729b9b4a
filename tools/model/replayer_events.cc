// The part of a replay that decodes one thread's events and shows them.
#include <algorithm>
#include <utility>

#include "tools/model/replayer.h"

namespace memoir {

bool Replayer::ShowEvents(ThreadReplay& thread, RunCursor& cursor, Tick until) {
  do {
    if (cursor.chunk->memory_alone && cursor.tick <= until && Skim(thread, cursor)) continue;
    if (cursor.tick > until || (waiting_ != kNever && thread.stack().empty() && WaitsForNode(thread, cursor)))
      return false;
    if (cursor.tick < now_) ++report_->late_events;
    now_ = std::max(now_, cursor.tick);
    switch (cursor.kind()) {
      case v1::RANGE_BEGIN_FUNCTION:
        ShowRangeBegin(thread, cursor, RangeSource::kFunction);
        break;
      case v1::RANGE_BEGIN_BACKWARD:
        ShowRangeBegin(thread, cursor, RangeSource::kBackward);
        break;
      case v1::RANGE_BEGIN_USER:
        ShowRangeBegin(thread, cursor, RangeSource::kUser);
        break;
      case v1::RANGE_BEGIN_DISPATCH:
        ShowRangeBegin(thread, cursor, RangeSource::kDispatch);
        break;
      case v1::RANGE_BEGIN_NVTX:
        ShowRangeBegin(thread, cursor, RangeSource::kNvtx);
        break;
      case v1::RANGE_END:
        ShowRangeEnd(thread, cursor);
        break;
      case v1::ALLOCATE:
      case v1::BLOCK_ALLOCATE:
      case v1::BLOCK_FOUND:
        ShowAllocate(thread, cursor);
        break;
      case v1::DEALLOCATE:
        ShowDeallocate(thread, cursor);
        break;
      case v1::MARK:
        ShowMark(thread, cursor);
        break;
      case v1::STEP:
        ShowStep(thread, cursor);
        break;
      case v1::PAUSE:
      case v1::RESUME:
        ShowSwitch(thread, cursor);
        break;
      case v1::STACK:
        ShowStack(thread, ids_->stack(cursor.run.stack.Next32()), cursor.tick, false);
        break;
      case v1::CALL_BEGIN:
      case v1::CALL_END:
        ShowCall(thread, cursor);
        break;
      case v1::MODULE_HOLDS:
      case v1::OPTIMIZER_HOLDS:
      case v1::HOLDS_MORE:
      case v1::GRADIENT_OF:
        ShowHolds(thread, cursor);
        break;
      case v1::MODULE_ENTER:
      case v1::MODULE_EXIT:
        ShowModule(thread, cursor, cursor.kind() == v1::MODULE_ENTER);
        break;
      case v1::KERNEL_LAUNCH:
      case v1::DEVICE_CALL:
        ShowDeviceCall(thread, cursor);
        break;
      case v1::KERNEL_RUN:
        ShowKernelRun(thread, cursor);
        break;
      default:
        ShowDeviceEvent(thread, cursor);
        break;
    }
  } while (cursor.Advance());
  return true;
}

// A run begins with what its thread has; after a loss that is news.
void Replayer::ShowStack(ThreadReplay& thread, StackId stack, Tick tick, bool before) {
  if (before && stack == thread.callstack) return;
  thread.callstack = stack;
  auto event = MakeEvent<StackEvent>(process_, thread.id(), tick);
  event.stack = stack;
  event.before = before;
  visitor_.OnStack(event);
}

void Replayer::ShowCall(const ThreadReplay& thread, RunCursor& cursor) {
  auto event = MakeEvent<CallEvent>(process_, thread.id(), cursor.tick);
  const bool begins = cursor.kind() == v1::CALL_BEGIN;
  if (begins) event.code = ids_->name(cursor.run.code.Next32()).code;
  event.around = cursor.run.calls_around.Next32();
  if (begins) {
    visitor_.OnCallBegin(event);
  } else {
    visitor_.OnCallEnd(event);
  }
}

void Replayer::ShowMark(const ThreadReplay& thread, RunCursor& cursor) {
  auto event = MakeEvent<MarkEvent>(process_, thread.id(), cursor.tick);
  event.name = ids_->name(cursor.run.mark_name.Next32()).id;
  visitor_.OnMark(event);
}

void Replayer::ShowStep(const ThreadReplay& thread, RunCursor& cursor) {
  auto event = MakeEvent<StepEvent>(process_, thread.id(), cursor.tick);
  event.step = cursor.run.step.Next();
  known_blocks_.StepBegins(thread.id());
  sight_.StepBegins(thread.id());
  visitor_.OnStep(event);
}

void Replayer::ShowHolds(const ThreadReplay& thread, RunCursor& cursor) {
  auto event = MakeEvent<HoldsEvent>(process_, thread.id(), cursor.tick);
  event.is_module = cursor.kind() == v1::MODULE_HOLDS;
  event.more = cursor.kind() == v1::HOLDS_MORE;
  event.is_gradient = cursor.kind() == v1::GRADIENT_OF;
  if (event.is_module) event.module = ids_->module(cursor.run.module.Next32());
  if (cursor.kind() == v1::OPTIMIZER_HOLDS) event.owner = cursor.run.owner.Next();
  const SignatureEntry signature = ids_->signature(cursor.run.signature.Next32());
  TakeTensors(cursor, signature.tensors);
  TakeHoldsNames(cursor, event.is_module || event.more ? signature.holds_names : 0);
  event.signature = signature.id;
  event.tensors = tensors_;
  event.names = holds_names_;
  visitor_.OnHolds(event);
}

// None where none is known, so that an optimizer's event, which has none, is like one.
void Replayer::TakeHoldsNames(RunCursor& cursor, std::uint32_t count) {
  holds_names_.clear();
  if (!options_.tensors || !cursor.has_holds_names) return;
  bool any = false;
  for (; count > 0; --count) {
    holds_names_.push_back(ids_->name(cursor.run.holds_name.Next32()).id);
    any = any || holds_names_.back().valid();
  }
  if (!any) holds_names_.clear();
}

void Replayer::SetDepth(ThreadReplay& thread, std::size_t depth, Tick tick) {
  while (thread.stack().size() > depth) PopRange(thread, tick, SignatureId(), true);
  while (thread.stack().size() < std::min(depth, ThreadReplay::kMaxDepth)) {
    OpenRange unknown;
    unknown.begin = tick;
    auto event = MakeEvent<RangeBeginEvent>(process_, thread.id(), tick);
    event.before = true;
    PushRange(thread, unknown, event);
  }
}

void Replayer::PushRange(ThreadReplay& thread, OpenRange& range, RangeBeginEvent& event) {
  range.call = ++calls_;
  if (options_.modules || range.source == RangeSource::kUser) range.role = RoleOf(range.name, range.source);
  range.callstack = ids_->WorkingStack(thread.callstack, WorkingThread(thread).callstack);
  if (thread.stack().empty()) {
    NoteForwardThread(thread, range);
    range.base = BaseOf(thread);
    range.user_name = UserNameOf(range.base);
  }
  event.range = thread.Push(range);
  if (event.range == nullptr) return;
  if (options_.modules) FindModule(thread);
  event.stack = &thread.stack();
  visitor_.OnRangeBegin(event);
}

void Replayer::PopRange(ThreadReplay& thread, Tick tick, SignatureId signature, bool implicit) {
  auto event = MakeEvent<RangeEndEvent>(process_, thread.id(), tick);
  event.range = thread.innermost();
  event.stack = &thread.stack();
  event.signature = signature;
  event.implicit = implicit;
  if (!implicit) event.tensors = tensors_;
  visitor_.OnRangeEnd(event);
  thread.Pop();
}

void Replayer::ShowRangeBegin(ThreadReplay& thread, RunCursor& cursor, RangeSource source) {
  Run& run = cursor.run;
  const NameEntry name = ids_->name(run.name.Next32());
  cursor.sequence = static_cast<std::int64_t>(static_cast<std::uint64_t>(cursor.sequence) +
                                              static_cast<std::uint64_t>(ZigZag(run.sequence_delta.Next())));
  OpenRange range;
  range.name = name.id;
  range.schema = name.schema;
  range.is_operator = name.is_operator;
  range.source = source;
  range.begin = cursor.tick;
  range.sequence = cursor.sequence;
  sight_.RangeBegins(thread.id());
  if (source == RangeSource::kBackward) range.forward_thread = run.forward_thread.Next();
  const SignatureEntry signature = ids_->signature(run.signature.Next32());
  TakeTensors(cursor, signature.tensors);
  auto event = MakeEvent<RangeBeginEvent>(process_, thread.id(), cursor.tick);
  event.signature = signature.id;
  event.tensors = tensors_;
  PushRange(thread, range, event);
  if (!tensor_rows_.empty()) ShowFirstSeen(thread, cursor, false);
}

void Replayer::ShowRangeEnd(ThreadReplay& thread, RunCursor& cursor) {
  const SignatureEntry signature = ids_->signature(cursor.run.signature.Next32());
  TakeTensors(cursor, signature.tensors);
  if (!thread.CanPop()) return;
  if (!tensor_rows_.empty()) ShowFirstSeen(thread, cursor, true);
  PopRange(thread, cursor.tick, signature.id, false);
}

Tensor Replayer::TensorOf(const TensorRow& row) {
  return {row.impl,
          row.storage,
          row.storage_bytes,
          ids_->layout(row.layout),
          ids_->device(row.device),
          (row.traits & 1u) != 0,
          (row.traits & 2u) != 0};
}

void Replayer::TakeTensors(RunCursor& cursor, std::uint32_t count) {
  if (!look_at_tensors_) return;
  tensor_rows_.clear();
  if (!options_.tensors) {
    const std::vector<std::uint8_t>& known = cursor.chunk->tensor_is_known;
    for (; count > 0; --count) {
      const std::uint32_t reference = cursor.run.tensor.Next32();
      if (reference != 0 && reference <= known.size() && known[reference - 1] == 0) tensor_rows_.push_back(reference);
    }
    return;
  }
  for (std::uint32_t i = 0; i < count; ++i) tensor_rows_.push_back(cursor.run.tensor.Next32());
  tensors_.clear();
  const std::vector<TensorRow>& table = cursor.chunk->payload->tensors;
  for (const std::uint32_t reference : tensor_rows_) {
    Tensor& tensor = tensors_.emplace_back();
    if (reference == 0 || reference > table.size()) continue;
    tensor = TensorOf(table[reference - 1]);
  }
}

void Replayer::ShowFirstSeen(ThreadReplay& thread, RunCursor& cursor, bool as_result) {
  if (!options_.first_seen) return;
  std::vector<std::uint8_t>& known = cursor.chunk->tensor_is_known;
  for (const std::uint32_t reference : tensor_rows_) {
    // One look per row of the table is enough: a storage stays where it is while tensors show it.
    if (reference == 0 || reference > known.size() || known[reference - 1] != 0) continue;
    known[reference - 1] = 1;
    const TensorRow& row = cursor.chunk->payload->tensors[reference - 1];
    const Tensor tensor = TensorOf(row);
    if (!blocks_.IsFirstSeen(tensor)) continue;
    auto event = MakeEvent<FirstSeenEvent>(process_, thread.id(), cursor.tick);
    event.tensor = &tensor;
    event.range = thread.innermost();
    event.as_result = as_result;
    visitor_.OnFirstSeen(event);
  }
}

Block Replayer::BlockAt(ThreadReplay& thread, RunCursor& cursor) {
  Run& run = cursor.run;
  Block block = BlockOn(thread, ids_->device(cursor.has_device ? run.device.Next32() : 0), cursor.tick);
  block.address = cursor.address += static_cast<std::uint64_t>(ZigZag(run.address_delta.Next()));
  block.serial = cursor.serial += static_cast<std::uint64_t>(ZigZag(run.serial_delta.Next()));
  return block;
}

Block Replayer::BlockOn(ThreadReplay& thread, DeviceId device, Tick tick) {
  Block block;
  block.device = device;
  block.tick = tick;
  block.thread = thread.id();
  const ThreadReplay& working = WorkingThread(thread);
  if (const OpenRange* range = working.outermost_operator()) {
    block.operator_name = range->name;
    block.operator_call = range->call;
  }
  if (const OpenRange* leaf = thread.innermost() == nullptr ? working.innermost() : thread.innermost())
    block.leaf_name = leaf->name;
  block.user_name = UserNameOf(thread);
  const Callstacks callstacks = CallstacksOf(thread);
  block.callstack = callstacks.own;
  block.forward_callstack = callstacks.forward;
  block.compiling = working.innermost() != nullptr && working.innermost()->role.compiling;
  if (options_.modules) {
    const ModuleContext context = ContextOf(working);
    block.module = context.module;
    block.phase = context.phase;
    block.in_compiled_region = working.innermost() != nullptr && working.innermost()->role.compiled;
    if (working.innermost() != nullptr) block.region = working.innermost()->region;
  }
  return block;
}

Block* Replayer::Open(const Block& block, const RangeStack* stack, Tick tick) {
  if (blocks_.live().size() >= LiveSet::kMaxBlocks) {
    if (!std::exchange(told_full_, true)) SayDamage("more live blocks than can be followed");
    return nullptr;
  }
  Block& added = blocks_.live().Add(block);
  added.ordinal = allocations_++;
  if (IsCaching(added.device)) MemoryOf(added.device).Allocate(added.bytes, added.requested_bytes);
  auto event = MakeEvent<AllocateEvent>(process_, added.thread, tick);
  event.block = &added;
  event.stack = stack;
  if (stack != nullptr) event.base = BaseOf(ThreadOf(added.thread));
  event.before = (block.origin == BlockOrigin::kKeyframe && (!began_ || after_evicted_)) || finding_;
  visitor_.OnAllocate(event);
  return &added;
}

void Replayer::Close(const Block& block, ThreadId by, Tick tick, DeallocateCause cause, std::uint64_t serial) {
  if (IsCaching(block.device)) {
    DeviceMemory& memory = MemoryOf(block.device);
    if (cause == DeallocateCause::kRecorded) {
      memory.RequestFree(block.address, block.bytes, block.requested_bytes, serial);
    } else {
      memory.Forget(block.bytes, block.requested_bytes);
    }
  }
  auto event = MakeEvent<DeallocateEvent>(process_, by, tick);
  event.cause = cause;
  const bool runs =
      block.operator_call != 0 && WorkingThread(ThreadOf(block.thread)).operator_call() == block.operator_call;
  event.temporary = known_blocks_.Ends(block, runs);
  event.block = &block;
  visitor_.OnDeallocate(event);
  blocks_.live().Remove(block);
}

void Replayer::FollowKnown(const ThreadReplay& thread, bool caching, Block& block) {
  block.unseen = !block.operator_name.valid() && !sight_.Sees(thread.id());
  known_blocks_.Follow(allocations_, caching, block);
  block.unseen = block.unseen && !block.inferred();
}

void Replayer::ShowAllocate(ThreadReplay& thread, RunCursor& cursor) {
  Block block = BlockAt(thread, cursor);
  block.bytes = cursor.run.bytes.Next();
  if (cursor.kind() != v1::ALLOCATE) {
    block.requested_bytes = cursor.run.requested_bytes.Next();
    TakePlace(cursor, block);
    NoteFinding(MemoryOf(block.device), thread.id(), cursor.kind() == v1::BLOCK_FOUND);
  }
  // Found while an operator ran: it is this one's, the first of a device that nobody had told of. No allocation all the
  // same: nobody saw it, and no keyframe counts it.
  finding_ = cursor.kind() == v1::BLOCK_FOUND;
  if (finding_ && !block.operator_name.valid()) block.origin = BlockOrigin::kFound;
  if (!finding_) FollowKnown(thread, cursor.kind() != v1::ALLOCATE, block);
  ShowBlock(thread, block, blocks_.Judge(block.device, block.address, block.serial));
  finding_ = false;
}

void Replayer::ShowBlock(ThreadReplay& thread, Block& block, const BlockTracker::Verdict& verdict) {
  if (verdict.replaced != nullptr) Close(*verdict.replaced, thread.id(), block.tick, verdict.cause);
  if (!verdict.closed_at_once) {
    Open(block, &WorkingThread(thread).stack(), block.tick);
    return;
  }
  // It comes after its own end. What lives at its address now must stay there, so it is shown under a slot of its own.
  block.ordinal = allocations_++;
  block.slot = Block::kNoSlot;
  auto begin = MakeEvent<AllocateEvent>(process_, thread.id(), block.tick);
  begin.block = &block;
  begin.stack = &WorkingThread(thread).stack();
  begin.base = BaseOf(thread);
  visitor_.OnAllocate(begin);
  auto end = MakeEvent<DeallocateEvent>(process_, thread.id(), block.tick);
  end.block = &block;
  end.cause = verdict.cause;
  end.temporary = block.operator_call != 0;
  visitor_.OnDeallocate(end);
}

void Replayer::ShowDeallocate(ThreadReplay& thread, RunCursor& cursor) {
  Run& run = cursor.run;
  cursor.address += static_cast<std::uint64_t>(ZigZag(run.address_delta.Next()));
  cursor.serial += static_cast<std::uint64_t>(ZigZag(run.serial_delta.Next()));
  const DeviceId device = ids_->device(cursor.has_device ? run.device.Next32() : 0);
  if (const Block* block = blocks_.FindClosed(device, cursor.address, cursor.serial)) {
    Close(*block, thread.id(), cursor.tick, DeallocateCause::kRecorded, cursor.serial);
  }
}

}  // namespace memoir
