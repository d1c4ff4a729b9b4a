#include "tracker/torch/ranges/range_record.h"
#include "tracker/stacks/stack_recorder.h"

#include <cstring>

#include "interpose/system/errno_keeper.h"
#include "interpose/system/tick.h"
#include "tracker/torch/cuda_look.h"
#include "tracker/torch/hooks.h"
#include "tracker/torch/ranges/backward_nodes.h"
#include "tracker/torch/ranges/open_ranges.h"
#include "tracker/torch/ranges/torch_thread.h"
#include "tracker/torch/tensors/range_values.h"

namespace memoir {
namespace {

// `shown` has the kinds of the arguments that torch has passed. If these are exactly the tensors of `given`, sets `all`
// to the kinds in `given` and returns true. Otherwise returns false.
bool AddKinds(const FunctionArguments& given, const ValueKinds& shown, ValueKinds& all) {
  if (given.count == 0 || shown.count != given.tensors || shown.tensors != shown.count) return false;
  std::memcpy(all.kinds, given.kinds, given.count);
  all.count = given.count;
  all.tensors = given.tensors;
  return true;
}

void RecordBegin(ThreadSlot* slot, const RangeStart& start, c10::ArrayRef<const c10::IValue> arguments) {
  ValueKinds shown;
  FindKinds(arguments, shown);
  ValueKinds all;
  const bool more = start.given != nullptr && AddKinds(*start.given, shown, all);
  const ValueKinds& kinds = more ? all : shown;
  const std::size_t text_bytes = start.name == 0 ? strnlen(start.text, kMaxInlineName) : 0;
  const std::size_t bytes = sizeof(RangeBeginRecord) + kinds.RecordBytes() + ((text_bytes + 7) & ~std::size_t{7});

  // The stack of a backward node shows Python code that the node itself runs. Readers find the node's source line in
  // another way: the node has the same sequence number as its forward operator.
  if (start.sequence >= 0 || start.source == RangeSource::kBackward) RecordStack(slot, bytes, OnEmptyPool::kWait);
  RingBatch batch(slot);
  std::uint8_t* place = batch.Reserve(bytes, OnEmptyPool::kWait);
  if (place == nullptr) return;
  auto* record = new (place) RangeBeginRecord{};
  record->header.words = static_cast<std::uint16_t>(bytes / 8);
  record->header.kind = RecordKind::kRangeBegin;
  record->header.flags =
      static_cast<std::uint8_t>(static_cast<std::uint8_t>(start.source) | (start.name == 0 ? kInlineName : 0));
  record->header.depth = slot->depth;
  record->header.count = kinds.count;
  record->tick = Tick();  // after any wait for room, because the wait is not part of the range
  record->sequence = start.sequence;
  record->name = start.name == 0 ? static_cast<std::uint32_t>(text_bytes) : start.name;
  record->tensor_count = kinds.tensors;
  record->list_count = kinds.lists;
  record->forward_thread = start.forward_thread;
  kinds.Write(place + sizeof(RangeBeginRecord));
  if (text_bytes > 0) std::memcpy(place + sizeof(RangeBeginRecord) + kinds.RecordBytes(), start.text, text_bytes);
  batch.Add(bytes);
  AddTensors(batch, slot->depth, arguments, shown);
}

void RecordEnd(ThreadSlot* slot, c10::ArrayRef<const c10::IValue> results, std::uint64_t tick) {
  ValueKinds kinds;
  FindKinds(results, kinds);
  const std::size_t bytes = sizeof(RangeEndRecord) + kinds.RecordBytes();
  RingBatch batch(slot);
  std::uint8_t* place = batch.Reserve(bytes, OnEmptyPool::kWait);
  if (place == nullptr) return;
  auto* record = new (place) RangeEndRecord{};
  record->header.words = static_cast<std::uint16_t>(bytes / 8);
  record->header.kind = RecordKind::kRangeEnd;
  record->header.depth = slot->depth;
  record->header.count = kinds.count;
  record->tick = tick;
  record->tensor_count = kinds.tensors;
  record->list_count = kinds.lists;
  kinds.Write(place + sizeof(RangeEndRecord));
  batch.Add(bytes);
  AddTensors(batch, slot->depth, results, kinds);
}

// Returns the thread's open ranges. If there is no room for one more range, counts a dropped record and returns
// nullptr.
OpenRanges* RoomForOne(ThreadSlot* slot, std::uint32_t epoch) {
  OpenRanges* open = slot == nullptr ? nullptr : OpenRanges::Of(slot, epoch);
  if (open != nullptr && !open->full()) [[likely]]
    return open;
  if (slot != nullptr) RingDropRecord(slot);
  return nullptr;
}

}  // namespace

void BeginRange(const void* range, const RangeStart& start, c10::ArrayRef<const c10::IValue> arguments) {
  const std::uint32_t epoch = RangeEpoch();
  if (epoch == 0) return;
  const ErrnoKeeper errno_keeper;
  ThreadSlot* slot = TorchThread();
  OpenRanges* open = RoomForOne(slot, epoch);
  if (open == nullptr) return;
  RecordBegin(slot, start, arguments);
  open->Push(range, start.accumulates);
  slot->depth = open->depth();
}

void RecordInstantRange(const RangeStart& start, c10::ArrayRef<const c10::IValue> arguments) {
  const std::uint32_t epoch = RangeEpoch();
  if (epoch == 0) return;
  const ErrnoKeeper errno_keeper;
  ThreadSlot* slot = TorchThread();
  if (RoomForOne(slot, epoch) == nullptr) return;
  RecordBegin(slot, start, arguments);
  RecordEnd(slot, {}, Tick());
}

void EndRange(const void* range, c10::ArrayRef<const c10::IValue> results) {
  const std::uint32_t epoch = RangeEpoch();
  if (epoch == 0) return;
  const ErrnoKeeper errno_keeper;
  if (CudaLookIsDue()) [[unlikely]]
    FindCudaBlocks();  // before the range ends, because a block that is found belongs to the range
  ThreadSlot* slot = RingThread();
  OpenRanges* open = slot == nullptr ? nullptr : OpenRanges::Of(slot, epoch);
  if (open != nullptr && open->IsAccumulating(range)) [[unlikely]]
    RecordAccumulatedGradient(slot);  // before the tick of the end, because the record lies inside of the range
  const std::uint64_t tick = Tick();
  if (open == nullptr || !open->Pop(range)) return;
  slot->depth = open->depth();
  RecordEnd(slot, results, tick);
}

void CountLostRange() noexcept {
  const ErrnoKeeper errno_keeper;
  if (RangeEpoch() == 0) return;
  if (ThreadSlot* slot = RingThread()) RingDropRecord(slot);
}

}  // namespace memoir
