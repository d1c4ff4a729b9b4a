#include "tracker/torch/range_hook.h"

#include <ATen/record_function.h>

#include <cstring>
#include <memory>

#include "interpose/errno_keeper.h"
#include "interpose/ring.h"
#include "interpose/tick.h"
#include "tracker/torch/open_ranges.h"
#include "tracker/torch/operator_names.h"
#include "tracker/torch/range_values.h"

namespace memoir {
namespace {

RangeSource Source(at::RecordScope scope) {
  if (scope == at::RecordScope::BACKWARD_FUNCTION) return RangeSource::kBackward;
  if (scope == at::RecordScope::USER_SCOPE) return RangeSource::kUser;
  return RangeSource::kFunction;
}

ThreadSlot* Slot() {
  ThreadSlot* slot = RingThread();
  if (slot != nullptr && slot->torch_id.load(std::memory_order_relaxed) == 0) [[unlikely]] {
    slot->torch_id.store(at::RecordFunction::currentThreadId(), std::memory_order_relaxed);
  }
  return slot;
}

// Name, argument kinds and tensors of one begin. The text of a range without a schema goes into the record.
void RecordBegin(ThreadSlot* slot, const at::RecordFunction& range) {
  ValueKinds kinds;
  FindKinds(range.inputs(), kinds);
  const std::uint32_t name = FindOperatorName(range);
  const char* text = name == 0 ? range.name() : "";
  const std::size_t text_bytes = name == 0 ? strnlen(text, kMaxInlineName) : 0;
  const std::size_t bytes = sizeof(RangeBeginRecord) + kinds.RecordBytes() + ((text_bytes + 7) & ~std::size_t{7});

  std::uint8_t* place = RingReserve(slot, bytes, OnEmptyPool::kWait);
  if (place == nullptr) return;
  const RangeSource source = Source(range.scope());
  auto* record = new (place) RangeBeginRecord{};
  record->header.words = static_cast<std::uint16_t>(bytes / 8);
  record->header.kind = RecordKind::kRangeBegin;
  record->header.flags = static_cast<std::uint8_t>(static_cast<std::uint8_t>(source) | (name == 0 ? kInlineName : 0));
  record->header.depth = slot->depth;
  record->header.count = kinds.count;
  record->tick = Tick();  // after a wait for room, which is no part of the range
  record->sequence = range.seqNr();
  record->name = name == 0 ? static_cast<std::uint32_t>(text_bytes) : name;
  record->tensor_count = kinds.tensors;
  record->list_count = kinds.lists;
  if (source == RangeSource::kBackward) record->forward_thread = static_cast<std::uint32_t>(range.forwardThreadId());
  kinds.Write(place + sizeof(RangeBeginRecord));
  std::memcpy(place + sizeof(RangeBeginRecord) + kinds.RecordBytes(), text, text_bytes);
  RingCommit(slot, bytes);
  RecordTensors(slot, range.inputs(), kinds);
}

void RecordEnd(ThreadSlot* slot, const at::RecordFunction& range, std::uint64_t tick) {
  ValueKinds kinds;
  const c10::ArrayRef<const c10::IValue> results(range.outputs().data(), range.outputs().size());
  FindKinds(results, kinds);
  const std::size_t bytes = sizeof(RangeEndRecord) + kinds.RecordBytes();
  std::uint8_t* place = RingReserve(slot, bytes, OnEmptyPool::kWait);
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
  RingCommit(slot, bytes);
  RecordTensors(slot, results, kinds);
}

std::unique_ptr<at::ObserverContext> OnBegin(const at::RecordFunction& range) {
  if (!RecordingEnabled()) return nullptr;
  const ErrnoKeeper errno_keeper;
  ThreadSlot* slot = Slot();
  if (slot == nullptr) return nullptr;
  OpenRanges* open = OpenRanges::Of(slot);
  if (open == nullptr || open->full()) {
    RingDropRecord(slot);
    return nullptr;
  }
  RecordBegin(slot, range);
  if (range.isAsync()) {  // ends on another thread, where it nests in nothing: an instant here
    RecordEnd(slot, range, Tick());
    return nullptr;
  }
  open->Push(&range);
  slot->depth = open->depth();
  return nullptr;
}

void OnEnd(const at::RecordFunction& range, at::ObserverContext*) {
  if (!RecordingEnabled()) return;
  const ErrnoKeeper errno_keeper;
  const std::uint64_t tick = Tick();
  ThreadSlot* slot = RingThread();
  OpenRanges* open = slot == nullptr ? nullptr : OpenRanges::Of(slot);
  if (open == nullptr || !open->Pop(&range)) return;
  slot->depth = open->depth();
  RecordEnd(slot, range, tick);
}

}  // namespace

void InstallRangeHook() {
  at::addGlobalCallback(
      at::RecordFunctionCallback(&OnBegin, &OnEnd)
          .needsInputs(true)
          .needsOutputs(true)
          .scopes({at::RecordScope::FUNCTION, at::RecordScope::BACKWARD_FUNCTION, at::RecordScope::USER_SCOPE}));
}

}  // namespace memoir
